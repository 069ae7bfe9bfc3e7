import { authenticationConfig, type BootstrapObject } from '@orch/controllers'
import type { Names } from '@orch/core/names'
import type { AuthoritySource } from '@orch/gateway'
import type { AuthenticationOptions } from './options.ts'

/** The published part of how clients authenticate, where authorities were given; as the files are at the start. */
export function authenticationStart(
  { clientCaFile, proxy }: AuthenticationOptions,
  source: AuthoritySource,
  names: Names,
): BootstrapObject[] {
  if (clientCaFile === '' && proxy === undefined) return []
  const { clients, proxies } = source.current
  return [
    authenticationConfig({
      names,
      clientAuthorities: clients,
      proxy: proxy === undefined ? undefined : { ...proxy, authorities: proxies },
    }),
  ]
}
