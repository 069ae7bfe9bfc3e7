import { setting, settingTypes } from '@orch/platform'

const { bool, path } = settingTypes

/** Where a server in one process keeps its state. */
export const stateSettings = {
  dataDir: setting({
    flag: '--data-dir',
    env: 'ORCH_DATA_DIR',
    type: path,
    default: '',
    defaultDoc: '.orch/<profile>',
    group: 'State',
    doc: "Folder for the state, the certificates and the administrator's client configuration.",
  }),
  memory: setting({
    flag: '--memory',
    env: 'ORCH_MEMORY',
    type: bool,
    default: 'false',
    group: 'State',
    doc: 'Keeps all objects in memory; only the certificates and the client configuration are written to the data folder.',
  }),
  detach: setting({
    flag: '--detach',
    env: 'ORCH_DETACH',
    type: bool,
    default: 'false',
    group: 'State',
    doc: 'Returns when the server is ready, which goes on as a process of its own; its log is server.log of the data folder. orch stop ends it.',
  }),
}
