import { join } from 'node:path'
import { type ClientConfiguration, printConfiguration } from '@orch/client'
import type { Names } from '@orch/core/names'
import { writePrivateFile } from '@orch/platform'

export interface ClientFilesOptions {
  readonly dataDir: string
  readonly names: Names
  /** How the administrator reaches the server. */
  readonly configuration: ClientConfiguration
  /** The caller has given the certificate that is served. */
  readonly hasGivenCertificate: boolean
}

/**
 * Writes what clients read: `admin.conf`, and `serving-ca.crt` where the served certificate is not one of this folder's authority.
 * `ca.crt`, `admin.crt` and `admin.key` are there already.
 */
export function writeClientFiles({ dataDir, names, configuration, hasGivenCertificate }: ClientFilesOptions): void {
  const name = names.serverServiceName
  writePrivateFile(join(dataDir, 'admin.conf'), printConfiguration({ cluster: name, user: `${name}-admin`, configuration }))
  if (hasGivenCertificate) writePrivateFile(join(dataDir, authorityFile(true)), configuration.certificateAuthority ?? '')
}

/** The file of the data folder with what a client has to trust. */
export function authorityFile(hasGivenCertificate: boolean): string {
  return hasGivenCertificate ? 'serving-ca.crt' : 'ca.crt'
}
