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
    doc: 'Where etcd is: https://host:port of each member.',
  }),
  etcdPrefix: setting({
    flag: '--etcd-prefix',
    env: 'ORCH_ETCD_PREFIX',
    type: string,
    default: '',
    defaultDoc: '/<profile>',
    group: 'etcd',
    doc: 'Below what all keys stand, so that several control planes can share one etcd.',
  }),
  etcdCaFile: setting({
    flag: '--etcd-cafile',
    env: 'ORCH_ETCD_CAFILE',
    type: path,
    default: '',
    group: 'etcd',
    doc: 'Authorities of the certificates that etcd shows.',
  }),
  etcdCertFile: setting({
    flag: '--etcd-certfile',
    env: 'ORCH_ETCD_CERTFILE',
    type: path,
    default: '',
    group: 'etcd',
    doc: 'Certificate to show to etcd. What belongs to etcd is read at the start: replicas are restarted one after the other when it changes.',
  }),
  etcdKeyFile: setting({
    flag: '--etcd-keyfile',
    env: 'ORCH_ETCD_KEYFILE',
    type: path,
    default: '',
    group: 'etcd',
    doc: 'Private key that belongs to --etcd-certfile.',
  }),
  etcdUsername: setting({
    flag: '--etcd-username',
    env: 'ORCH_ETCD_USERNAME',
    type: string,
    default: '',
    group: 'etcd',
    doc: 'User of etcd, where it asks for one.',
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
