import { setting, settingTypes } from '@orch/platform'

const { list, path, string } = settingTypes

/** How storage reaches etcd. */
export const etcdSettings = {
  etcdServers: setting({
    flag: '--etcd-servers',
    env: 'ORCH_ETCD_SERVERS',
    type: list,
    default: '',
    group: 'etcd',
    doc: 'https://host:port of each etcd member.',
  }),
  etcdPrefix: setting({
    flag: '--etcd-prefix',
    env: 'ORCH_ETCD_PREFIX',
    type: string,
    default: '',
    defaultDoc: '/<profile>',
    group: 'etcd',
    doc: 'Prefix of all keys, so that several control planes can share one etcd.',
  }),
  etcdCaFile: setting({
    flag: '--etcd-cafile',
    env: 'ORCH_ETCD_CAFILE',
    type: path,
    default: '',
    group: 'etcd',
    doc: 'Certificate authorities of etcd.',
  }),
  etcdCertFile: setting({
    flag: '--etcd-certfile',
    env: 'ORCH_ETCD_CERTFILE',
    type: path,
    default: '',
    group: 'etcd',
    doc: 'Client certificate for etcd. The files for etcd are read at the start; restart the replicas one by one when they change.',
  }),
  etcdKeyFile: setting({
    flag: '--etcd-keyfile',
    env: 'ORCH_ETCD_KEYFILE',
    type: path,
    default: '',
    group: 'etcd',
    doc: 'Private key of --etcd-certfile.',
  }),
  etcdUsername: setting({
    flag: '--etcd-username',
    env: 'ORCH_ETCD_USERNAME',
    type: string,
    default: '',
    group: 'etcd',
    doc: 'User name for etcd with authentication.',
  }),
  etcdPasswordFile: setting({
    flag: '--etcd-password-file',
    env: 'ORCH_ETCD_PASSWORD_FILE',
    type: path,
    default: '',
    group: 'etcd',
    doc: 'File with the password of --etcd-username.',
  }),
}
