import { SettingsError, type TlsFiles, type Values } from '@orch/platform'
import type { trustSettings } from '../settings/distributed.ts'
import { readCertificateFile, readFlagFile } from './files.ts'

/** How services know one another. */
export interface TrustOptions {
  /** Absent: nothing is encrypted. */
  readonly tls: TlsFiles | undefined
  /** Whether that is allowed beyond this machine. */
  readonly insecureTransport: boolean
}

/** Checks that the three files belong together and can be read. */
export function readTrust({ serviceCertificate, serviceKey, serviceCa, insecureTransport }: Values<typeof trustSettings>): TrustOptions {
  const given = { '--service-certificate': serviceCertificate, '--service-key': serviceKey, '--service-ca': serviceCa }
  const missing = Object.entries(given).filter(([, path]) => path === '')
  if (missing.length === 3) return { tls: undefined, insecureTransport }
  if (missing.length > 0) throw new SettingsError(`${Object.keys(given).join(', ')} go together: ${missing[0]?.[0]} is missing`)
  readCertificateFile('--service-certificate', serviceCertificate)
  readFlagFile('--service-key', serviceKey)
  readCertificateFile('--service-ca', serviceCa)
  return { tls: { certificateFile: serviceCertificate, keyFile: serviceKey, authorityFile: serviceCa }, insecureTransport }
}
