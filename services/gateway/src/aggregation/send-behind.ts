import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import type { Duplex, Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Guard } from '@orch/platform'
import { ContextAgent } from '@orch/platform/webhooks'
import type { HeaderFields } from '../exchange/exchange.ts'
import type { Http2Session } from './http2-session.ts'
import type { Http2Sessions } from './http2-sessions.ts'
import type { Upgraded } from './pass-upgrade.ts'

/** A request to the remote server. */
export interface Outgoing {
  readonly method: string
  readonly path: string
  readonly authority: string
  readonly headers: HeaderFields
  /** Undefined if unknown; 0 without a body. */
  readonly bodyBytes: number | undefined
  readonly body: () => Readable
  /** True for an upgrade request, which only HTTP/1.1 supports. */
  readonly upgrades: boolean
}

/** The answer of a remote server, in either HTTP version. */
export interface Response {
  readonly code: number
  readonly headers: NodeJS.Dict<string[]>
  /** Throws if it breaks off. */
  readonly body: AsyncIterable<Uint8Array>
  /** Undefined before the end of the body. */
  trailers(): NodeJS.Dict<string[]>
  destroy(): void
}

/** The remote server's answer: a response, or a change of the protocol. */
export type Answer = { readonly kind: 'response'; readonly response: Response } | ({ readonly kind: 'upgraded' } & Upgraded)

/** The connections to remote servers. */
export interface Way {
  readonly sessions: Http2Sessions
  /** Identifies an address with its TLS settings. */
  readonly key: string
  readonly guard: Guard
}

/** Requests without side effects may be sent again with an unknown outcome. */
const repeatable: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Sends a request, over HTTP/2 if the server supports it. The peer may have just closed a kept connection: a request without a body that was not
 * processed, or that has no side effects, is sent once more.
 */
export async function sendBehind(outgoing: Outgoing, options: RequestOptions, way: Way): Promise<Answer> {
  try {
    return await sendOnce(outgoing, options, way)
  } catch (error) {
    const mayRepeat = error instanceof ClosedConnection && (error.isUnprocessed || repeatable.has(outgoing.method))
    if (!mayRepeat || outgoing.bodyBytes !== 0) throw error instanceof ClosedConnection ? error.cause : error
    return sendOnce(outgoing, { ...options, agent: new ContextAgent() }, way)
  }
}

class ClosedConnection extends Error {
  /** The server reports that it has not processed the request. */
  readonly isUnprocessed: boolean

  constructor(cause: unknown, isUnprocessed: boolean) {
    super('the connection was closed', { cause })
    this.isUnprocessed = isUnprocessed
  }
}

async function sendOnce(outgoing: Outgoing, options: RequestOptions, { sessions, key, guard }: Way): Promise<Answer> {
  if (outgoing.upgrades) return sendHttp1(outgoing, options, guard)
  const reached = await sessions.reach(key, options)
  if (reached.kind === 'http2') return sendHttp2(outgoing, options, { ...reached, guard })
  const { socket } = reached
  return sendHttp1(outgoing, socket === undefined ? options : overSocket(socket, options), guard)
}

/** Options of a request over an existing connection. Any agent would open another connection. */
export function overSocket(socket: Duplex, options: RequestOptions): RequestOptions {
  return { ...options, agent: undefined, createConnection: () => socket }
}

/** Sends a request once, over HTTP/1.1. */
export function sendHttp1(outgoing: Outgoing, options: RequestOptions, guard: Guard): Promise<Answer> {
  const { method, path, authority, headers, bodyBytes } = outgoing
  const chunked = bodyBytes === undefined ? { 'transfer-encoding': 'chunked' } : {}
  return new Promise((resolve, reject) => {
    const sent = httpsRequest({ ...options, method, path, headers: { ...headers, ...lengthField(bodyBytes), ...chunked, host: authority } })
    const end = () => void sent.destroy()
    guard.watch(sent, 'backend', end)
    sent.on('response', (response) => {
      guard.watch(response, 'backend', end)
      // The server may mistake the rest of the body for the next request of the connection.
      response.once('end', () => {
        if (!sent.writableFinished) sent.destroy()
      })
      resolve({
        kind: 'response',
        response: {
          code: response.statusCode ?? 502,
          headers: response.headersDistinct,
          body: response,
          trailers: () => response.trailersDistinct,
          destroy: () => void response.destroy(),
        },
      })
    })
    sent.on('upgrade', (response, socket, head) => {
      guard.watch(socket, 'backend', () => socket.destroy())
      resolve({ kind: 'upgraded', response, socket, head })
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      const isClosed = sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      reject(isClosed ? new ClosedConnection(error, false) : error)
    })
    sendBody(outgoing, sent).catch(reject)
  })
}

function lengthField(bytes: number | undefined): HeaderFields {
  return bytes === undefined || bytes === 0 ? {} : { 'content-length': String(bytes) }
}

/** Sends exactly the announced number of bytes, or fails. */
async function sendBody({ bodyBytes, body }: Outgoing, sink: Writable): Promise<void> {
  if (bodyBytes === 0) sink.end()
  else await pipeline(bytesOf(body(), bodyBytes), sink)
}

/** The bytes of a body. The stream outlives it: the client still gets an answer if the remote server stops reading. */
async function* bytesOf(body: Readable, announced: number | undefined): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length
    if (announced !== undefined && bytes > announced) throw new Error('the body is longer than its head says')
    yield chunk
  }
  if (announced !== undefined && bytes < announced) throw new Error('the body is shorter than its head says')
}

function sendHttp2(
  outgoing: Outgoing,
  { signal }: RequestOptions,
  { session, isReused, guard }: { readonly session: Http2Session; readonly isReused: boolean; readonly guard: Guard },
): Promise<Answer> {
  const { method, path, authority, headers, bodyBytes } = outgoing
  return new Promise((resolve, reject) => {
    const pseudo = { ':method': method, ':path': path, ':authority': authority }
    const fields = { ...headers, ...lengthField(bodyBytes), ...pseudo }
    const stream = session.request(fields, { endStream: bodyBytes === 0, ...(signal === undefined ? {} : { signal }) })
    guard.watch(stream, 'backend', () => stream.destroy())
    let failure: Error | undefined
    stream.on('error', (error: Error) => {
      failure = error
    })
    stream.once('response', (received) => resolve({ kind: 'response', response: ofHttp2(stream, received) }))
    stream.once('close', () => {
      const isUnprocessed = stream.id === undefined || stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
      const error = failure ?? brokenOff('before its answer')
      reject(isReused || isUnprocessed ? new ClosedConnection(error, isUnprocessed) : error)
    })
    if (bodyBytes !== 0) sendBody(outgoing, stream).catch(reject)
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

/** Node does not report every truncated answer as an error. */
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
