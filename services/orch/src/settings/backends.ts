import { settingsOf, settingTypes } from '@orch/platform'
import { generalSettings } from './general.ts'

const { int, path } = settingTypes
const setting = settingsOf('Backends')
const port = int({ min: 0, max: 65_535 })

/** All settings of `orch backends`. */
export const backendsCommandSettings = {
  config: generalSettings.config,
  logLevel: generalSettings.logLevel,
  logFormat: generalSettings.logFormat,
  dataDir: setting({ flag: '--data-dir', type: path, doc: 'Folder for the data of both.' }),
  etcdPort: setting({ flag: '--etcd-port', type: port, default: '0', doc: 'Port of etcd; 0 chooses a free one.' }),
  natsPort: setting({ flag: '--nats-port', type: port, default: '0', doc: 'Port of NATS; 0 chooses a free one.' }),
  nats: setting({
    flag: '--nats',
    type: settingTypes.bool,
    default: 'true',
    doc: 'Whether a nats-server is started: storages that host watch need none.',
  }),
  certificates: setting({
    flag: '--certificates',
    type: path,
    doc: 'Folder with ca.crt, etcd.crt, etcd.key, nats.crt and nats.key: enables TLS, and requires client certificates. Without it connections are not encrypted.',
  }),
}
