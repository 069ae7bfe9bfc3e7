import { X509Certificate } from 'node:crypto'
import { parseServiceIdentity, type ServiceRole } from '@orch/core/contracts'
import { SettingsError, settingsOf, settingTypes, type TlsFiles, type Values } from '@orch/platform'
import { readCertificateFile, readPairFiles } from '../configuration/files.ts'

const { bool, path } = settingTypes
const setting = settingsOf('Between services')

/** The settings of trust between services. */
export const trustSettings = {
  serviceCertificate: setting(
    { flag: '--service-certificate', type: path },
    'Certificate of this process for other services; it contains the role. The file is reloaded when it changes.',
  ),
  serviceKey: setting({ flag: '--service-key', type: path }, 'Private key of --service-certificate.'),
  serviceCa: setting({ flag: '--service-ca', type: path }, 'Certificate authorities of the other services.'),
  insecureTransport: setting(
    { flag: '--insecure-transport', type: bool, default: 'false' },
    'Allows unencrypted connections to other services, etcd and NATS beyond this machine. Any client that reaches them then has full access.',
  ),
}

/** The options of trust between services. */
export interface TrustOptions {
  /** Undefined without encryption. */
  readonly tls: TlsFiles | undefined
  /** True if unencrypted connections beyond this machine are allowed. */
  readonly insecureTransport: boolean
}

/** Checks that the three files are readable and belong together, and that the certificate has this role. */
export function readTrust(
  { serviceCertificate, serviceKey, serviceCa, insecureTransport }: Values<typeof trustSettings>,
  expected: ServiceRole,
): TrustOptions {
  const given = { '--service-certificate': serviceCertificate, '--service-key': serviceKey, '--service-ca': serviceCa }
  const missing = Object.entries(given).filter(([, path]) => path === '')
  if (missing.length === 3) return { tls: undefined, insecureTransport }
  if (missing.length > 0) throw new SettingsError(`${Object.keys(given).join(', ')} go together: ${missing[0]?.[0]} is missing`)
  const flags = {
    certificate: { flag: '--service-certificate', path: serviceCertificate },
    key: { flag: '--service-key', path: serviceKey },
  }
  const { certificate } = readPairFiles(flags)
  readCertificateFile('--service-ca', serviceCa)
  const role = roleIn(certificate)
  if (role !== expected) {
    const names = role === undefined ? 'names no role' : `is for the role ${role}`
    throw new SettingsError(`--service-certificate=${serviceCertificate}: the certificate ${names}, expected ${expected}`)
  }
  return { tls: { certificateFile: serviceCertificate, keyFile: serviceKey, authorityFile: serviceCa }, insecureTransport }
}

/** The role is a URI in the certificate's names. */
function roleIn(certificate: string): ServiceRole | undefined {
  const names = new X509Certificate(certificate).subjectAltName?.split(', ') ?? []
  const uris = names.filter((name) => name.startsWith('URI:')).map((name) => name.slice('URI:'.length))
  return uris.map(parseServiceIdentity).find((role) => role !== undefined)
}
