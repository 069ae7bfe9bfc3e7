import { setting, settingTypes } from '@orch/platform'
import { admissionSettings } from '../admission/settings.ts'
import { etcdSettings } from '../backends/etcd-settings.ts'
import { gatewaySettings } from '../gateway/settings.ts'
import { generalSettings } from '../settings/general.ts'
import { storageSettings } from '../storage/settings.ts'

const { etcdServers, etcdPrefix, etcdCaFile, etcdCertFile, etcdKeyFile } = etcdSettings

/** What the `kube-apiserver` of the test assets honours. */
export const apiServerSettings = {
  ...generalSettings,
  profile: { ...generalSettings.profile, default: 'kubernetes' },
  ...gatewaySettings,
  watchGraceMs: { ...gatewaySettings.watchGraceMs, default: '0s' },
  certDir: setting({
    flag: '--cert-dir',
    env: 'ORCH_CERT_DIR',
    type: settingTypes.path,
    default: '',
    defaultDoc: 'a certificate in memory',
    group: 'Serving',
    doc: 'Folder of apiserver.crt and apiserver.key, the serving certificate where --tls-cert-file names none. They are generated where they are absent.',
  }),
  advertiseAddress: setting({
    flag: '--advertise-address',
    env: 'ORCH_ADVERTISE_ADDRESS',
    type: settingTypes.string,
    default: '',
    defaultDoc: '--bind-address, or the first address of this machine',
    group: 'Serving',
    doc: 'Address in the Endpoints of the Service of the server.',
  }),
  ...admissionSettings,
  allowPrivileged: setting({
    flag: '--allow-privileged',
    env: 'ORCH_ALLOW_PRIVILEGED',
    type: settingTypes.bool,
    default: 'true',
    group: 'Admission',
    doc: 'Only true: privileged containers are a matter of pod security.',
  }),
  etcdServers: {
    ...etcdServers,
    doc: 'URLs of an etcd: that of the test assets, whose data folder then holds the state, or a real one.',
  },
  etcdPrefix: { ...etcdPrefix, default: '/registry', doc: 'Prefix of all keys, so that several servers can share one etcd.' },
  etcdCaFile,
  etcdCertFile,
  etcdKeyFile,
  ...storageSettings,
}
