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
}
