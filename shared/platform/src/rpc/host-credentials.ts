import { isIP } from 'node:net'
import { checkServerIdentity, createSecureContext } from 'node:tls'
import { ChannelCredentials, credentials } from '@grpc/grpc-js'

/** A caller's PEM texts: the trusted authorities (default: the runtime's) and its own certificate. */
export interface CallerTexts {
  readonly ca?: Buffer | undefined
  readonly certificate?: Buffer | undefined
  readonly key?: Buffer | undefined
}

type ConnectorParameters = Parameters<ChannelCredentials['_createSecureConnector']>
type Connector = ReturnType<ChannelCredentials['_createSecureConnector']>

/**
 * TLS credentials for servers that are dialled by name or address. gRPC announces the dialled host as the server name,
 * even if it is an address, which TLS forbids and Node refuses from 26 on. The certificate must match the dialled host.
 */
export class HostCredentials extends ChannelCredentials {
  readonly #texts: CallerTexts
  readonly #byHost = new Map<string, ChannelCredentials>()

  constructor(texts: CallerTexts) {
    super()
    this.#texts = texts
  }

  override _isSecure(): boolean {
    return true
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other
  }

  override _createSecureConnector(...[target, options, callCredentials]: ConnectorParameters): Connector {
    const host = target.path.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
    const named = { ...options, 'grpc.ssl_target_name_override': announcedName(host) }
    return this.#checking(host)._createSecureConnector(target, named, callCredentials)
  }

  #checking(host: string): ChannelCredentials {
    const known = this.#byHost.get(host)
    if (known !== undefined) return known
    const { ca, certificate, key } = this.#texts
    const context = createSecureContext({
      // Any listed certificate is trusted, including intermediate authorities and the server's own certificate.
      ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
      ...(certificate === undefined ? {} : { cert: certificate, key }),
    })
    const made = credentials.createFromSecureContext(context, {
      checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
    })
    this.#byHost.set(host, made)
    return made
  }
}

/** The server name to announce in TLS for a host; an address must not be announced. */
export function announcedName(host: string): string {
  return isIP(host) === 0 ? host : 'localhost'
}
