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
    doc: 'Certificate of this process for other services; it contains the role. The file is reloaded when it changes.',
  }),
  serviceKey: setting({
    flag: '--service-key',
    env: 'ORCH_SERVICE_KEY',
    type: path,
    default: '',
    group: 'Between services',
    doc: 'Private key of --service-certificate.',
  }),
  serviceCa: setting({
    flag: '--service-ca',
    env: 'ORCH_SERVICE_CA',
    type: path,
    default: '',
    group: 'Between services',
    doc: 'Certificate authorities of the other services.',
  }),
  insecureTransport: setting({
    flag: '--insecure-transport',
    env: 'ORCH_INSECURE_TRANSPORT',
    type: bool,
    default: 'false',
    group: 'Between services',
    doc: 'Allows unencrypted connections to other services, etcd and NATS beyond this machine. Any client that reaches them then has full access.',
  }),
}
