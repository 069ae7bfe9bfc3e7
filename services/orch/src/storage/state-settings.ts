import { settingsOf, settingTypes } from '@orch/platform'

const { bool, path } = settingTypes
const setting = settingsOf('State')

/** Where a server in one process keeps its state. */
export const stateSettings = {
  dataDir: setting({
    flag: '--data-dir',
    type: path,
    defaultDoc: '.orch/<profile>',
    doc: "Folder for the state, the certificates and the administrator's client configuration.",
  }),
  memory: setting({
    flag: '--memory',
    type: bool,
    default: 'false',
    doc: 'Keeps all objects in memory; only the certificates and the client configuration are written to the data folder.',
  }),
  detach: setting({
    flag: '--detach',
    type: bool,
    default: 'false',
    doc: 'Returns when the server is ready, which goes on as a process of its own; its log is server.log of the data folder. orch stop ends it.',
  }),
}
