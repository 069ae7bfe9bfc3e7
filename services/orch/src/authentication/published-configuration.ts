import type { Client } from '@orch/client'
import { authenticationConfig, type BootstrapObject, bootstrap } from '@orch/controllers'
import type { Names } from '@orch/core/names'
import type { AuthoritySource } from '@orch/gateway'
import type { Log } from '@orch/platform'
import type { AuthenticationOptions } from './options.ts'

/** The published part of how clients authenticate, as the files of authorities are when it is read. */
export function authenticationStart(
  { proxy }: Pick<AuthenticationOptions, 'proxy'>,
  source: AuthoritySource,
  names: Names,
): BootstrapObject[] {
  const read = () => {
    const { clients, proxies } = source.current
    const ofProxy = proxy === undefined ? undefined : { ...proxy, authorities: proxies }
    return authenticationConfig({ names, clientAuthorities: clients, proxy: ofProxy })
  }
  const { resource } = read()
  return [
    {
      resource,
      get object() {
        return read().object
      },
    },
  ]
}

/** Publishes it again when the files of authorities change. Returns a function that ends that. */
export function followAuthorities(source: AuthoritySource, objects: readonly BootstrapObject[], client: Client, log: Log): () => void {
  return source.listen(() => {
    bootstrap(client, objects).catch((error: unknown) => log.warn({ err: error }, 'new authorities could not be published'))
  })
}
