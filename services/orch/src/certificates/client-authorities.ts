import { type AuthoritySource, openAuthorityFiles } from '@orch/gateway'
import type { AuthenticationOptions } from '../authentication/options.ts'
import type { Surroundings } from '../surroundings.ts'

export interface AuthoritiesNeeds {
  readonly authentication: AuthenticationOptions
  /** The server's own authority, PEM; '' where it has none. */
  readonly ownClients: string
}

/** Whose client certificates are accepted at the port, as the files say from now on. */
export async function openAuthorities(
  { authentication, ownClients }: AuthoritiesNeeds,
  surroundings: Surroundings,
): Promise<AuthoritySource> {
  const { clock, lifecycle, log } = surroundings
  const { clientCaFile, proxy } = authentication
  const authorities = openAuthorityFiles({ clientFile: clientCaFile, proxyFile: proxy?.caFile ?? '', ownClients, clock, log })
  await lifecycle.run({ name: 'certificate authorities', stop: () => authorities.close() })
  return authorities
}
