import { settingsOf, settingTypes } from '@orch/platform'
import { admissionSettings } from '../admission/settings.ts'
import { etcdSettings } from '../backends/etcd.ts'
import { gatewaySettings } from '../gateway/settings.ts'
import { generalSettings } from '../settings/general.ts'
import { storageSettings } from '../storage/settings.ts'

const inServing = settingsOf('Serving')
const inAdmission = settingsOf('Admission')

const { etcdServers, etcdPrefix, etcdCaFile, etcdCertFile, etcdKeyFile } = etcdSettings

/** The honoured settings of the test assets' `kube-apiserver`. */
export const apiServerSettings = {
  ...generalSettings,
  profile: { ...generalSettings.profile, default: 'kubernetes' },
  ...gatewaySettings,
  watchGraceMs: { ...gatewaySettings.watchGraceMs, default: '0s' },
  certDir: inServing(
    { flag: '--cert-dir', type: settingTypes.path, defaultDoc: 'a certificate in memory' },
    'Folder of apiserver.crt and apiserver.key, the serving certificate where --tls-cert-file names none. They are generated where they are absent.',
  ),
  advertiseAddress: inServing(
    { flag: '--advertise-address', type: settingTypes.string, defaultDoc: '--bind-address, or the first address of this machine' },
    'Address in the Endpoints of the Service of the server.',
  ),
  ...admissionSettings,
  allowPrivileged: inAdmission(
    { flag: '--allow-privileged', type: settingTypes.bool, default: 'true' },
    'Only true: privileged containers are a matter of pod security.',
  ),
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

const { auditLog } = apiServerSettings

/** The settings with the defaults of kube-apiserver 1.`minor`. */
export function apiServerSettingsAt(minor: number): typeof apiServerSettings {
  if (minor >= 36) return apiServerSettings
  return {
    ...apiServerSettings,
    auditLog: {
      ...auditLog,
      ageDaysMax: { ...auditLog.ageDaysMax, default: '0' },
      filesMax: { ...auditLog.filesMax, default: '0' },
      sizeMegabytesMax: { ...auditLog.sizeMegabytesMax, default: '0' },
    },
  }
}
