import type { OutgoingHttpHeaders } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { checkServerIdentity, createSecureContext, getCACertificates, type PeerCertificate } from 'node:tls'
import type { ClientConfiguration } from '../configuration.ts'
import type { TransportRequest } from '../transport.ts'

/** Options of a transport. */
export interface HttpsTransportOptions {
  /** True for HTTP/1.1 only. Default: HTTP/2 if the server offers it in the TLS handshake. */
  readonly http1Only?: boolean
  /** Resolves host names. Default: the system's resolver. */
  readonly lookup?: LookupFunction
  /** Maximum time for opening a connection. Default: the system's limit. A request that waited for the connection fails with an `UnsentError`. */
  readonly connectMsMax?: number
  /** Maximum silence during an answer. Default: none. A watch with bookmarks receives one each minute. */
  readonly silenceMsMax?: number
  /** Header fields of every request. The fields of a request override them. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
}

/** The server of a configuration, and the way to connect to it. */
export type Remote = ReturnType<typeof remoteOf>

/** The default field manager. */
const program = 'orch-client'

/** Parses the server's address in a configuration. */
export function remoteOf(configuration: ClientConfiguration, options: HttpsTransportOptions) {
  const { protocol, hostname, port, pathname } = new URL(configuration.server)
  const isTls = protocol === 'https:'
  let tls: ReturnType<typeof tlsOptionsOf> | undefined
  return {
    ...options,
    isTls,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    /** The path prefix of all requests. */
    prefix: pathname.replace(/\/{2,}/g, '/').replace(/\/$/, ''),
    token: configuration.token,
    /** The TLS options of a connection; made when first needed. */
    tls: () => {
      tls ??= tlsOptionsOf(configuration)
      return tls
    },
  }
}

/** The complete header fields of a request. */
export function headersOf({ token, headers: always = {} }: Remote, { headers, body }: TransportRequest): OutgoingHttpHeaders {
  return {
    'user-agent': program,
    ...lowerCased(always),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...headers,
    ...(body === undefined ? {} : { 'content-length': typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength }),
  }
}

/** HTTP/2 requires lower-case names; with equal case, a request's fields override the common ones. */
function lowerCased(headers: Readonly<Record<string, string | readonly string[]>>) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function tlsOptionsOf({ certificateAuthority, clientCertificate, clientKey, serverName, isInsecure }: ClientConfiguration) {
  return {
    // All connections share the context: each new context would read the certificates again, into memory that V8 does not count.
    secureContext: createSecureContext({
      // As with clients in Go, a trusted certificate need not be self-signed, so a configuration can name the server's certificate itself.
      ...(certificateAuthority === undefined
        ? // The authorities of the machine, as in client-go: the administrator has not chosen the ones that come with Node.
          { ca: isInsecure === true ? [] : getCACertificates('system') }
        : { ca: certificateAuthority, allowPartialTrustChain: true }),
      ...(clientCertificate === undefined ? {} : { cert: clientCertificate }),
      ...(clientKey === undefined ? {} : { key: clientKey }),
    }),
    ...(serverName === undefined ? {} : namedServer(serverName)),
    rejectUnauthorized: isInsecure !== true,
  }
}

/** An address is checked like a name, but TLS does not send it. */
function namedServer(serverName: string) {
  if (isIP(serverName) === 0) return { servername: serverName }
  return { servername: '', checkServerIdentity: (_: string, certificate: PeerCertificate) => checkServerIdentity(serverName, certificate) }
}

/** The error of a connection that was not opened in time. */
export function notConnected(connectMsMax: number): Error {
  return Object.assign(new Error(`no connection was made within ${connectMsMax} ms`), { code: 'ETIMEDOUT' })
}

/** The error of an answer that was silent for too long. */
export function silent(silenceMsMax: number): Error {
  return new Error(`the server was silent for ${silenceMsMax} ms`)
}
