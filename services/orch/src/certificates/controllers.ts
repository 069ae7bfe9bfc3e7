import type { ClientConfiguration } from '@orch/client'
import { controllersUser } from '@orch/core/rbac'
import { type CertificateFiles, type Clock, keepUserCertificate } from '@orch/platform'

interface ControllersParts {
  /** Of the administrator. */
  readonly configuration: ClientConfiguration
  /** Where the certificates of the server are kept. */
  readonly files: CertificateFiles
  readonly clock: Clock
  readonly authorizationMode: readonly string[]
}

/** How controllers in a process of their own reach the server: as a user with a role, where there are roles. */
export async function configurationOfControllers({
  configuration,
  files,
  clock,
  authorizationMode,
}: ControllersParts): Promise<ClientConfiguration> {
  if (!authorizationMode.includes('RBAC')) return configuration
  const { certificate, key } = await keepUserCertificate({ files, clock }, { name: 'controllers', user: controllersUser })
  return { ...configuration, clientCertificate: certificate, clientKey: key }
}
