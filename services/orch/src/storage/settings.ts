import { settingsOf, settingTypes } from '@orch/platform'

const { bool, duration, path } = settingTypes
const setting = settingsOf('State')

/** The settings of encryption at rest. */
const encryptionSettings = {
  encryptionProviderConfig: setting(
    { flag: '--encryption-provider-config', type: path },
    'EncryptionConfiguration: which resources are encrypted in the store, and with which keys. By default none is.',
  ),
  encryptionProviderConfigAutomaticReload: setting(
    { flag: '--encryption-provider-config-automatic-reload', type: bool, default: 'false' },
    'Reads the EncryptionConfiguration again when its file changes. One that is not valid leaves the present one in use.',
  ),
}

export const storageSettings = {
  ...encryptionSettings,
  watchHistoryMs: setting(
    { flag: '--watch-history', type: duration, default: '5m' },
    'Time for which past changes are kept, so that watches can resume and lists can be continued.',
  ),
}

/** The settings of the state of a server in one process. */
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
