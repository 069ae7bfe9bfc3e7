import type { ServiceRole } from '@orch/core/contracts'
import type { Names } from '@orch/core/names'
import type { TlsFiles } from './certificate-source.ts'
import type { ServiceCertificateOptions } from './issue.ts'
import type { KeyPair } from './key-pair.ts'

/** A certificate authority for the services of one installation. What it has signed is trusted as the role that it names. */
export async function issueServiceAuthority({ names, nowMs }: { names: Names; nowMs: number }): Promise<KeyPair> {
  return (await import('./issue.ts')).issueAuthority({ commonName: `${names.serverServiceName}-service-ca`, nowMs })
}

/** A certificate by which the services know one another: both as a server under its host names and as a client. */
export async function issueServiceCertificate(options: ServiceCertificateOptions): Promise<KeyPair> {
  return (await import('./issue.ts')).issueService(options)
}

/** The files of a service in a folder of certificates: its own, and the authority's. */
export function serviceTlsFiles(folder: string, role: ServiceRole): TlsFiles {
  return { certificateFile: `${folder}/${role}.crt`, keyFile: `${folder}/${role}.key`, authorityFile: `${folder}/ca.crt` }
}
