import type { IncomingMessage } from 'node:http'
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import type { Readable } from 'node:stream'
import type { HeaderFields } from '../exchange/exchange.ts'
import type { Http2Session } from './http2-session.ts'
import type { Http2Sessions } from './http2-sessions.ts'
import type { Upgraded } from './pass-upgrade.ts'

/** A request as it leaves for the server behind. */
export interface Outgoing {
  readonly method: string
  readonly path: string
  readonly authority: string
  readonly headers: HeaderFields
  /** Undefined: as many as come; 0: there is no body. */
  readonly bodyBytes: number | undefined
  readonly body: () => Readable
  /** It asks for another protocol, which HTTP/1.1 alone has. */
  readonly upgrades: boolean
}

/** The answer of a server behind, in either version of HTTP. */
export interface Response {
  readonly code: number
  readonly headers: NodeJS.Dict<string[]>
  /** Throws where it breaks off. */
  readonly body: AsyncIterable<Uint8Array>
  /** Known once the body has ended. */
  trailers(): NodeJS.Dict<string[]>
  destroy(): void
}

/** How the server behind has answered: with a response, or by changing the protocol. */
export type Answer = { readonly kind: 'response'; readonly response: Response } | ({ readonly kind: 'upgraded' } & Upgraded)

/** Requests that change nothing may be sent again where it is not known whether they arrived. */
const repeatable: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Sends a request, over HTTP/2 where the server speaks it. A connection that was kept may have been closed by the other side just now: what
 * has no body and was not processed, or changes nothing, is sent once more.
 */
export async function sendBehind(outgoing: Outgoing, options: RequestOptions, sessions: Http2Sessions, key: string): Promise<Answer> {
  try {
    return await sendOnce(outgoing, options, sessions, key)
  } catch (error) {
    const mayRepeat = error instanceof ClosedConnection && (error.isUnprocessed || repeatable.has(outgoing.method))
    if (!mayRepeat || outgoing.bodyBytes !== 0) throw error instanceof ClosedConnection ? error.cause : error
    return sendOnce(outgoing, { ...options, agent: false }, sessions, key)
  }
}

class ClosedConnection extends Error {
  /** The server says that it has not looked at the request. */
  readonly isUnprocessed: boolean

  constructor(cause: unknown, isUnprocessed: boolean) {
    super('the connection was closed', { cause })
    this.isUnprocessed = isUnprocessed
  }
}

async function sendOnce(outgoing: Outgoing, options: RequestOptions, sessions: Http2Sessions, key: string): Promise<Answer> {
  if (outgoing.upgrades) return sendHttp1(outgoing, options)
  const reached = await sessions.reach(key, options)
  if (reached.kind === 'http2') return sendHttp2(outgoing, options, reached)
  const { socket } = reached
  return sendHttp1(outgoing, socket === undefined ? options : { ...options, agent: false, createConnection: () => socket })
}

function sendHttp1({ method, path, authority, headers, bodyBytes, body }: Outgoing, options: RequestOptions): Promise<Answer> {
  const framing = bodyBytes === undefined ? { 'transfer-encoding': 'chunked' } : {}
  return new Promise((resolve, reject) => {
    const sent = httpsRequest({ ...options, method, path, headers: { ...headers, ...framing, host: authority } })
    sent.on('response', (response) => resolve({ kind: 'response', response: ofHttp1(response) }))
    sent.on('upgrade', (response, socket, head) => resolve({ kind: 'upgraded', response, socket, head }))
    sent.on('error', (error: NodeJS.ErrnoException) => {
      const isClosed = sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      reject(isClosed ? new ClosedConnection(error, false) : error)
    })
    if (bodyBytes === 0) sent.end()
    else body().on('error', reject).pipe(sent)
  })
}

function ofHttp1(response: IncomingMessage): Response {
  return {
    code: response.statusCode ?? 502,
    headers: response.headersDistinct,
    body: response,
    trailers: () => response.trailersDistinct,
    destroy: () => void response.destroy(),
  }
}

function sendHttp2(
  { method, path, authority, headers, bodyBytes, body }: Outgoing,
  { signal }: RequestOptions,
  { session, isReused }: { readonly session: Http2Session; readonly isReused: boolean },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const pseudo = { ':method': method, ':path': path, ':authority': authority }
    const stream = session.request({ ...headers, ...pseudo }, { endStream: bodyBytes === 0, ...(signal === undefined ? {} : { signal }) })
    let failure: Error | undefined
    stream.on('error', (error: Error) => {
      failure = error
    })
    stream.once('response', (fields) => resolve({ kind: 'response', response: ofHttp2(stream, fields) }))
    stream.once('close', () => {
      const isUnprocessed = stream.id === undefined || stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
      const error = failure ?? brokenOff('before its answer')
      reject(isReused || isUnprocessed ? new ClosedConnection(error, isUnprocessed) : error)
    })
    if (bodyBytes !== 0) body().on('error', reject).pipe(stream)
  })
}

function ofHttp2(stream: ClientHttp2Stream, fields: IncomingHttpHeaders): Response {
  let trailers: NodeJS.Dict<string[]> = {}
  stream.once('trailers', (sent) => {
    trailers = distinct(sent)
  })
  return {
    code: Number(fields[':status']),
    headers: distinct(fields),
    body: { [Symbol.asyncIterator]: () => readWhole(stream) },
    trailers: () => trailers,
    destroy: () => stream.close(constants.NGHTTP2_CANCEL),
  }
}

/** Node does not make an error of every answer that breaks off. */
async function* readWhole(stream: ClientHttp2Stream): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* stream.iterator({ destroyOnReturn: false })
    if (!stream.readableEnded || stream.rstCode !== constants.NGHTTP2_NO_ERROR) throw brokenOff('in its answer')
  } finally {
    if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL)
  }
}

function distinct(fields: IncomingHttpHeaders): NodeJS.Dict<string[]> {
  const lists: NodeJS.Dict<string[]> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && !name.startsWith(':')) lists[name] = Array.isArray(value) ? value : [value]
  }
  return lists
}

function brokenOff(where: string): Error {
  return Object.assign(new Error(`the server closed the connection ${where}`), { code: 'ECONNRESET' })
}
