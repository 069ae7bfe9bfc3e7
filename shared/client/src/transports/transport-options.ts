import type { OutgoingHttpHeaders } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { checkServerIdentity, createSecureContext, getCACertificates, type PeerCertificate } from 'node:tls'
import type { ClientConfiguration } from '../configuration.ts'
import type { TransportRequest } from '../transport.ts'

/** Options of a transport. */
export interface HttpsTransportOptions {
  /** HTTP/1.1 alone; otherwise HTTP/2 with servers that offer it in the TLS handshake. */
  readonly http1Only?: boolean
  /** Finds the addresses of a name; the system's way unless given. */
  readonly lookup?: LookupFunction
  /** Longest that making a connection may take; absent: as long as the system takes. A request that waited for it is an `UnsentError`. */
  readonly connectMsMax?: number
  /** Longest that an answer under way may be silent; absent: for ever. A watch with bookmarks hears one each minute. */
  readonly silenceMsMax?: number
  /** Header fields of every request; a request's own come before them. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
}

/** The server of a configuration, and how it is reached. */
export interface Remote extends HttpsTransportOptions {
  readonly isTls: boolean
  readonly host: string
  readonly port: number
  /** The path before those of requests. */
  readonly prefix: string
  readonly token: string | undefined
  /** The TLS options of a connection; made when first needed. */
  tls(): TlsOptions
}

/** The default field manager. */
const program = 'orch-client'

/** Reads where the server of a configuration is. */
export function remoteOf(configuration: ClientConfiguration, options: HttpsTransportOptions): Remote {
  const { protocol, hostname, port, pathname } = new URL(configuration.server)
  const isTls = protocol === 'https:'
  let tls: TlsOptions | undefined
  return {
    ...options,
    isTls,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    prefix: pathname.replace(/\/{2,}/g, '/').replace(/\/$/, ''),
    token: configuration.token,
    tls: () => {
      tls ??= tlsOptionsOf(configuration)
      return tls
    },
  }
}

/** The header fields of a request as it leaves. */
export function headersOf({ token, headers: always = {} }: Remote, { headers, body }: TransportRequest): OutgoingHttpHeaders {
  return {
    'user-agent': program,
    ...lowerCased(always),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...headers,
    ...(body === undefined ? {} : { 'content-length': typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength }),
  }
}

/** HTTP/2 has names in lower case alone, and the fields of a request are to replace the common ones. */
function lowerCased(headers: Readonly<Record<string, string | readonly string[]>>) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function tlsOptionsOf({ certificateAuthority, clientCertificate, clientKey, serverName, isInsecure }: ClientConfiguration) {
  return {
    // One for all connections: otherwise each reads the certificates again, into memory that V8 does not count.
    secureContext: createSecureContext({
      // A trusted certificate need not be its own issuer, as with clients in Go: so a configuration can name the server's certificate itself.
      ...(certificateAuthority === undefined
        ? // Those of the machine, as client-go does; what comes with Node is not what an administrator has decided.
          { ca: isInsecure === true ? [] : getCACertificates('system') }
        : { ca: certificateAuthority, allowPartialTrustChain: true }),
      ...(clientCertificate === undefined ? {} : { cert: clientCertificate }),
      ...(clientKey === undefined ? {} : { key: clientKey }),
    }),
    ...(serverName === undefined ? {} : namedServer(serverName)),
    rejectUnauthorized: isInsecure !== true,
  }
}

type TlsOptions = ReturnType<typeof tlsOptionsOf>

/** An address is checked like a name, but TLS does not send it. */
function namedServer(serverName: string) {
  if (isIP(serverName) === 0) return { servername: serverName }
  return { servername: '', checkServerIdentity: (_: string, certificate: PeerCertificate) => checkServerIdentity(serverName, certificate) }
}

/** A connection was not made in time. */
export function notConnected(connectMsMax: number): Error {
  return Object.assign(new Error(`no connection was made within ${connectMsMax} ms`), { code: 'ETIMEDOUT' })
}

/** An answer was silent for too long. */
export function silent(silenceMsMax: number): Error {
  return new Error(`the server was silent for ${silenceMsMax} ms`)
}
