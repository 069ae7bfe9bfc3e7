import type { ServiceRole } from '@orch/core/contracts'
import type { Names } from '@orch/core/names'
import type { TlsFiles } from './certificate-source.ts'
import type { ServiceCertificateOptions } from './issue.ts'
import type { KeyPair } from './key-pair.ts'

/** Makes an authority for the services of one installation. A certificate that it signs is trusted for the role that it names. */
export async function issueServiceAuthority({ names, nowMs }: { names: Names; nowMs: number }): Promise<KeyPair> {
  return (await import('./issue.ts')).issueAuthority({ commonName: `${names.serverServiceName}-service-ca`, nowMs })
}

/** Makes a certificate with which a service authenticates, both as a server under its host names and as a client. */
export async function issueServiceCertificate(options: ServiceCertificateOptions): Promise<KeyPair> {
  return (await import('./issue.ts')).issueService(options)
}

/** The files of a service in a certificate folder: its own certificate and the authority. */
export function serviceTlsFiles(folder: string, role: ServiceRole): TlsFiles {
  return { certificateFile: `${folder}/${role}.crt`, keyFile: `${folder}/${role}.key`, authorityFile: `${folder}/ca.crt` }
}
