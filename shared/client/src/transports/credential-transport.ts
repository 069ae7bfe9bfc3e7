import type { ClientConfiguration } from '../configuration.ts'
import { type Credential, type CredentialSource, type CredentialSurroundings, KeptCredential } from '../credentials/credential.ts'
import { ExecPlugin } from '../credentials/exec-plugin.ts'
import { OidcTokens } from '../credentials/oidc-login.ts'
import type { Transport, TransportRequest, TransportResponse } from '../transport.ts'
import { createHttpsTransport } from './https-transport.ts'
import type { HttpsTransportOptions } from './transport-options.ts'

/** The transport to the server of a configuration, with its credentials. */
export function createTransport(
  configuration: ClientConfiguration,
  surroundings: CredentialSurroundings,
  options: HttpsTransportOptions = {},
): Transport {
  const source = sourceOf(configuration, surroundings)
  return source === undefined
    ? createHttpsTransport(configuration, options)
    : new CredentialTransport(configuration, new KeptCredential(source, () => surroundings.now()), options)
}

function sourceOf({ exec, oidc }: ClientConfiguration, surroundings: CredentialSurroundings): CredentialSource | undefined {
  if (exec !== undefined) return new ExecPlugin(exec, surroundings)
  return oidc === undefined ? undefined : new OidcTokens(oidc, surroundings)
}

/** Sends each request with the current credential. A request refused with 401 is sent once more if a new credential is available. */
class CredentialTransport implements Transport {
  readonly #configuration: ClientConfiguration
  readonly #kept: KeptCredential
  readonly #options: HttpsTransportOptions
  /** The transport for the current client certificate. */
  #inner: { readonly credential: Credential; readonly transport: Transport } | undefined
  readonly #retired = new Set<Transport>()

  constructor(configuration: ClientConfiguration, kept: KeptCredential, options: HttpsTransportOptions) {
    this.#configuration = configuration
    this.#kept = kept
    this.#options = options
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const credential = await this.#kept.current()
    const response = await this.#sendWith(credential, request)
    if (response.status !== 401) return response
    const another = await this.#kept.replaced(credential)
    if (isSame(another, credential)) return response
    for await (const _ of response.body) {
      // The body is read to its end, so that the connection can be reused.
    }
    return this.#sendWith(another, request)
  }

  close(): void {
    this.#kept.close()
    this.#inner?.transport.close()
    for (const transport of this.#retired) transport.close()
  }

  #sendWith(credential: Credential, request: TransportRequest): Promise<TransportResponse> {
    const { token } = credential
    const headers = token === undefined ? request.headers : { ...request.headers, authorization: `Bearer ${token}` }
    return this.#transportFor(credential).send({ ...request, headers })
  }

  /** Another certificate needs another handshake. Open requests of the previous transport end by themselves. */
  #transportFor(credential: Credential): Transport {
    const { clientCertificate, clientKey } = credential
    const inner = this.#inner
    if (inner !== undefined && inner.credential.clientCertificate === clientCertificate && inner.credential.clientKey === clientKey) {
      return inner.transport
    }
    if (inner !== undefined) this.#retired.add(inner.transport)
    const shown = clientCertificate === undefined || clientKey === undefined ? {} : { clientCertificate, clientKey }
    const transport = createHttpsTransport({ ...this.#configuration, ...shown }, this.#options)
    this.#inner = { credential, transport }
    return transport
  }
}

function isSame(one: Credential, other: Credential): boolean {
  return one.token === other.token && one.clientCertificate === other.clientCertificate && one.clientKey === other.clientKey
}
