import { setting, settingTypes } from '@orch/platform'
import { generalSettings } from './general.ts'

const { int, path } = settingTypes
const port = int({ min: 0, max: 65_535 })

/** All settings of `orch backends`. */
export const backendsCommandSettings = {
  config: generalSettings.config,
  logLevel: generalSettings.logLevel,
  logFormat: generalSettings.logFormat,
  dataDir: setting({
    flag: '--data-dir',
    env: 'ORCH_DATA_DIR',
    type: path,
    default: '',
    group: 'Backends',
    doc: 'Folder for the data of both.',
  }),
  etcdPort: setting({
    flag: '--etcd-port',
    env: 'ORCH_ETCD_PORT',
    type: port,
    default: '0',
    group: 'Backends',
    doc: 'Port of etcd; 0 chooses a free one.',
  }),
  natsPort: setting({
    flag: '--nats-port',
    env: 'ORCH_NATS_PORT',
    type: port,
    default: '0',
    group: 'Backends',
    doc: 'Port of NATS; 0 chooses a free one.',
  }),
  nats: setting({
    flag: '--nats',
    env: 'ORCH_NATS',
    type: settingTypes.bool,
    default: 'true',
    group: 'Backends',
    doc: 'Whether a nats-server is started: storages that host watch need none.',
  }),
  certificates: setting({
    flag: '--certificates',
    env: 'ORCH_CERTIFICATES',
    type: path,
    default: '',
    group: 'Backends',
    doc: 'Folder with ca.crt, etcd.crt, etcd.key, nats.crt and nats.key: enables TLS, and requires client certificates. Without it connections are not encrypted.',
  }),
}
