import { settingsOf, settingTypes } from '@orch/platform'

const { bool, path } = settingTypes
const setting = settingsOf('Between services')

/** How services know one another. */
export const trustSettings = {
  serviceCertificate: setting({
    flag: '--service-certificate',
    type: path,
    doc: 'Certificate of this process for other services; it contains the role. The file is reloaded when it changes.',
  }),
  serviceKey: setting({ flag: '--service-key', type: path, doc: 'Private key of --service-certificate.' }),
  serviceCa: setting({ flag: '--service-ca', type: path, doc: 'Certificate authorities of the other services.' }),
  insecureTransport: setting({
    flag: '--insecure-transport',
    type: bool,
    default: 'false',
    doc: 'Allows unencrypted connections to other services, etcd and NATS beyond this machine. Any client that reaches them then has full access.',
  }),
}
