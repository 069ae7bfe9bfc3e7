import type { Client } from '@orch/client'
import { authenticationConfig, type BootstrapObject, bootstrap } from '@orch/controllers'
import type { Catalogue } from '@orch/core/catalogue'
import type { AuthoritySource } from '@orch/gateway'
import type { Log } from '@orch/platform'
import { type FrontProxy, publishedFrontProxy } from '../aggregation/front-proxy.ts'
import type { AuthenticationOptions } from './settings.ts'

/** The published parts of client authentication. */
interface PublishedParts {
  readonly authentication: Pick<AuthenticationOptions, 'proxy'>
  readonly source: AuthoritySource
  readonly catalogue: Pick<Catalogue, 'names' | 'isGateOn'>
  /** The authority of the proxy certificate; undefined if the settings have one. */
  readonly frontProxy?: FrontProxy | undefined
}

/** The published part of client authentication, from the current files of authorities. */
export function authenticationStart({ authentication, source, catalogue, frontProxy }: PublishedParts): BootstrapObject[] {
  const { proxy } = authentication
  const { names } = catalogue
  const read = () => {
    const { clients, proxies } = source.current
    const ofOwn =
      frontProxy === undefined ? undefined : publishedFrontProxy(frontProxy.authority, catalogue.isGateOn('RemoteRequestHeaderUID'))
    const ofProxy = proxy === undefined ? ofOwn : { ...proxy, authorities: proxies }
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

/** Publishes it again when the files of authorities change. Returns a function that stops. */
export function followAuthorities(source: AuthoritySource, objects: readonly BootstrapObject[], client: Client, log: Log): () => void {
  return source.listen(() => {
    bootstrap(client, objects).catch((error: unknown) => log.warn({ err: error }, 'new authorities could not be published'))
  })
}
