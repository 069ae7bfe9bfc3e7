import { setting, settingTypes } from '@orch/platform'

const { bool, path } = settingTypes

/** How services know one another. */
export const trustSettings = {
  serviceCertificate: setting({
    flag: '--service-certificate',
    env: 'ORCH_SERVICE_CERTIFICATE',
    type: path,
    default: '',
    group: 'Between services',
    doc: 'Certificate by which this process is known to other services; it names the role. Read again when it changes.',
  }),
  serviceKey: setting({
    flag: '--service-key',
    env: 'ORCH_SERVICE_KEY',
    type: path,
    default: '',
    group: 'Between services',
    doc: 'Private key that belongs to --service-certificate.',
  }),
  serviceCa: setting({
    flag: '--service-ca',
    env: 'ORCH_SERVICE_CA',
    type: path,
    default: '',
    group: 'Between services',
    doc: 'Authorities of the certificates that other services show.',
  }),
  insecureTransport: setting({
    flag: '--insecure-transport',
    env: 'ORCH_INSECURE_TRANSPORT',
    type: bool,
    default: 'false',
    group: 'Between services',
    doc: 'Allows connections to other services, etcd and NATS without encryption beyond this machine. Whoever reaches them may then do everything.',
  }),
}
