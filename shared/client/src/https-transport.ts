import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { checkServerIdentity, createSecureContext, getCACertificates, type PeerCertificate } from 'node:tls'
import type { ClientConfiguration } from './configuration.ts'
import { type Transport, type TransportRequest, type TransportResponse, UnsentError } from './transport.ts'

/** How a transport differs from the usual one. */
export interface HttpsTransportOptions {
  /** Finds the addresses of a name; the system's way unless given. */
  readonly lookup?: LookupFunction
  /** Longest that making a connection may take; absent: as long as the system takes. A request that waited for it is an `UnsentError`. */
  readonly connectMsMax?: number
  /** Longest that an answer under way may be silent; absent: for ever. A watch with bookmarks hears one each minute. */
  readonly silenceMsMax?: number
  /** Header fields of every request; those of a request come before them. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
}

/** What the server calls the writer of fields where the caller names none. */
const program = 'orch-client'

/** Requests over HTTP/1.1 with connections that are kept and used again. */
export function createHttpsTransport(configuration: ClientConfiguration, options: HttpsTransportOptions = {}): Transport {
  const { connectMsMax, silenceMsMax, headers: always, ...ways } = options
  const base = new URL(configuration.server)
  const prefix = base.pathname.replace(/\/$/, '')
  const isTls = base.protocol === 'https:'
  const createAgent = () => (isTls ? new HttpsAgent({ keepAlive: true, ...tlsOptions(configuration) }) : new HttpAgent({ keepAlive: true }))
  let agent: HttpAgent | undefined
  const send = isTls ? httpsRequest : httpRequest
  const closing = new AbortController()
  return {
    send: ({ method, path, headers, body, signal }) =>
      new Promise<TransportResponse>((resolve, reject) => {
        agent ??= createAgent()
        const request = send({
          agent,
          ...ways,
          host: base.hostname.replace(/^\[|\]$/g, ''),
          port: base.port === '' ? (isTls ? 443 : 80) : base.port,
          method,
          path: prefix + path,
          headers: { 'user-agent': program, ...always, ...credentialHeaders(configuration), ...headers, ...lengthHeader(body) },
          signal: signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]),
        })
        let isConnected = false
        let answer: IncomingMessage | undefined
        request.on('socket', (socket) => {
          isConnected = request.reusedSocket
          if (isConnected) return
          const late = connectMsMax === undefined ? undefined : setTimeout(() => request.destroy(notConnected(connectMsMax)), connectMsMax)
          socket.once('close', () => clearTimeout(late))
          socket.once(isTls ? 'secureConnect' : 'connect', () => {
            clearTimeout(late)
            isConnected = true
          })
        })
        if (silenceMsMax !== undefined) {
          request.setTimeout(silenceMsMax, () => {
            const error = new Error(`the server was silent for ${silenceMsMax} ms`)
            // An answer that has begun ends as broken; the request knows nothing of it any more.
            answer?.destroy(error)
            request.destroy(error)
          })
        }
        const isGivenUp = () => closing.signal.aborted || signal?.aborted === true
        request.on('error', (error) => reject(isConnected || isGivenUp() ? error : new UnsentError(error)))
        request.on('response', (response) => {
          answer = response
          resolve(toResponse(response))
        })
        request.end(body)
      }),
    close() {
      closing.abort()
      agent?.destroy()
    },
  }
}

function tlsOptions({ certificateAuthority, clientCertificate, clientKey, serverName, isInsecure }: ClientConfiguration) {
  return {
    // One for all connections: otherwise each reads the certificates again, into memory that V8 does not count.
    secureContext: createSecureContext({
      // What is trusted need not be its own issuer, as with clients in Go: so a configuration can name the server's certificate itself.
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

function notConnected(connectMsMax: number): Error {
  return Object.assign(new Error(`no connection was made within ${connectMsMax} ms`), { code: 'ETIMEDOUT' })
}

/** An address is checked like a name, but TLS does not send it. */
function namedServer(serverName: string) {
  if (isIP(serverName) === 0) return { servername: serverName }
  return { servername: '', checkServerIdentity: (_: string, certificate: PeerCertificate) => checkServerIdentity(serverName, certificate) }
}

function credentialHeaders({ token }: ClientConfiguration): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

function lengthHeader(body: TransportRequest['body']): Record<string, number> {
  return body === undefined ? {} : { 'content-length': typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength }
}

function toResponse(response: IncomingMessage): TransportResponse {
  const headers: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(response.headers)) headers[name] = Array.isArray(value) ? value.join(', ') : value
  return { status: response.statusCode ?? 0, headers, body: response }
}
