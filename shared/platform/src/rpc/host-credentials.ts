import { isIP } from 'node:net'
import { checkServerIdentity, createSecureContext } from 'node:tls'
import { ChannelCredentials, credentials } from '@grpc/grpc-js'

/** PEM of a caller: the trusted authorities, absent: the runtime's; and its own certificate. */
export interface CallerTexts {
  readonly ca?: Buffer | undefined
  readonly certificate?: Buffer | undefined
  readonly key?: Buffer | undefined
}

type ConnectorParameters = Parameters<ChannelCredentials['_createSecureConnector']>
type Connector = ReturnType<ChannelCredentials['_createSecureConnector']>

/**
 * Credentials of TLS for servers that are dialled by name or by address. gRPC announces the dialled name as the server's,
 * also an address, which TLS does not allow and Node refuses from 26 on. The certificate must be for the dialled name.
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
    const host = hostOf(target.path)
    const named = { ...options, 'grpc.ssl_target_name_override': announcedName(host) }
    return this.#checking(host)._createSecureConnector(target, named, callCredentials)
  }

  #checking(host: string): ChannelCredentials {
    const known = this.#byHost.get(host)
    if (known !== undefined) return known
    const { ca, certificate, key } = this.#texts
    const context = createSecureContext({
      // Any certificate that is named is trusted, also an intermediate authority or the server's own.
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

/** The name that TLS announces for a host: an address must not be one. */
export function announcedName(host: string): string {
  return isIP(host) === 0 ? host : 'localhost'
}

function hostOf(path: string): string {
  return path.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
}
