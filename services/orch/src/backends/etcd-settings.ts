import { settingsOf, settingTypes } from '@orch/platform'

const { list, path, string } = settingTypes
const setting = settingsOf('etcd')

/** How storage reaches etcd. */
export const etcdSettings = {
  etcdServers: setting({ flag: '--etcd-servers', type: list, doc: 'https://host:port of each etcd member.' }),
  etcdPrefix: setting({
    flag: '--etcd-prefix',
    type: string,
    defaultDoc: '/<profile>',
    doc: 'Prefix of all keys, so that several control planes can share one etcd.',
  }),
  etcdCaFile: setting({ flag: '--etcd-cafile', type: path, doc: 'Certificate authorities of etcd.' }),
  etcdCertFile: setting({
    flag: '--etcd-certfile',
    type: path,
    doc: 'Client certificate for etcd. The files for etcd are read at the start; restart the replicas one by one when they change.',
  }),
  etcdKeyFile: setting({ flag: '--etcd-keyfile', type: path, doc: 'Private key of --etcd-certfile.' }),
  etcdUsername: setting({ flag: '--etcd-username', type: string, doc: 'User name for etcd with authentication.' }),
  etcdPasswordFile: setting({ flag: '--etcd-password-file', type: path, doc: 'File with the password of --etcd-username.' }),
}
