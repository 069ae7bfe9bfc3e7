import { settingsOf, settingTypes } from '@orch/platform'
import { encryptionSettings } from '../encryption/settings.ts'

const { bool, duration, path } = settingTypes
const setting = settingsOf('State')

/** What storage keeps. */
export const storageSettings = {
  ...encryptionSettings,
  watchHistoryMs: setting(
    { flag: '--watch-history', type: duration, default: '5m' },
    'How long past changes are kept, so that watches can resume and lists can be continued.',
  ),
}

/** Where a server in one process keeps its state. */
export const stateSettings = {
  dataDir: setting(
    { flag: '--data-dir', type: path, defaultDoc: '.orch/<profile>' },
    "Folder for the state, the certificates and the administrator's client configuration.",
  ),
  memory: setting(
    { flag: '--memory', type: bool, default: 'false' },
    'Keeps all objects in memory; only the certificates and the client configuration are written to the data folder.',
  ),
  detach: setting(
    { flag: '--detach', type: bool, default: 'false' },
    'Returns when the server is ready, which goes on as a process of its own; its log is server.log of the data folder. orch stop ends it.',
  ),
}
