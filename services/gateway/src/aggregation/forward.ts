import type { IncomingMessage } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { timeout } from '@orch/core/meta'
import { type Clock, messageOf } from '@orch/platform'
import { unreachedReason } from '@orch/platform/webhooks'
import type { HeaderFields } from '../exchange/exchange.ts'
import type { GatewayRequest } from '../request.ts'
import { commonHeaders, PlainRefusal } from '../respond.ts'
import type { GatewayState } from '../state.ts'
import { isAvailable, type RemoteApi } from './api-service.ts'
import { type Backends, UnresolvedService } from './backends.ts'
import { passUpgrade, type Upgraded } from './pass-upgrade.ts'
import { passedRequestHeaders, passedResponseHeaders } from './passed-headers.ts'

/** What passing a request on needs. */
export interface ForwardParts {
  readonly backends: Backends
  readonly clock: Pick<Clock, 'after' | 'monotonic'>
  readonly state: Pick<GatewayState, 'watches'>
  readonly pathPrefix: string
  /** Servers behind receive the uids of users. */
  readonly tellsUids: boolean
  /** A redirect of a server behind is an error; else it goes to the client. */
  readonly rejectsRedirects: boolean
}

/** Discovery is asked by all clients, which wait for it: a server behind that is slow must not be waited for. */
const discoveryMsMax = 5_000

/** Passes a request on to the server of its group version, and the answer back, as both come. */
export async function forward(request: GatewayRequest, api: RemoteApi, parts: ForwardParts): Promise<void> {
  if (!isAvailable(api)) throw unavailable()
  const options = await reach(api, parts)
  const ending = new AbortController()
  request.exchange.onClose(() => ending.abort())
  const limit = limitOf(request, ending, parts)
  try {
    const answer = await send(request, { ...options, signal: ending.signal }, parts)
    if (answer.kind === 'upgraded') {
      request.leave()
      return await passUpgrade(request, answer)
    }
    await passAnswer(request, answer.response, parts)
  } catch (error) {
    if (request.exchange.isClosed) return
    if (limit.isOver) throw limit.error
    throw error instanceof PlainRefusal ? error : new PlainRefusal(503, `error trying to reach service: ${unreachedReason(error)}\n`)
  } finally {
    limit.cancel()
    ending.abort()
  }
}

function unavailable(): PlainRefusal {
  return new PlainRefusal(503, 'service unavailable\n')
}

async function reach(api: RemoteApi, { backends }: ForwardParts): Promise<RequestOptions> {
  try {
    return await backends.reach(api)
  } catch (error) {
    throw error instanceof UnresolvedService ? unavailable() : new PlainRefusal(500, `${messageOf(error)}\n`)
  }
}

interface Limit {
  isOver: boolean
  readonly error: Error
  cancel(): void
}

/** The time that the request has. What lasts, such as a watch, ends with the client or with the server behind. */
function limitOf(request: GatewayRequest, ending: AbortController, { clock }: ForwardParts): Limit {
  const isDiscovery = request.info.kind === 'path'
  const limit: Limit = {
    isOver: false,
    error: isDiscovery
      ? new PlainRefusal(503, 'error trying to reach service: context deadline exceeded\n')
      : timeout('request did not complete within the allotted timeout'),
    cancel() {},
  }
  if (request.isLongRunning) return limit
  const leftMs = request.deadlineMs - clock.monotonic()
  const timer = clock.after(isDiscovery ? Math.min(leftMs, discoveryMsMax) : leftMs, () => {
    limit.isOver = true
    ending.abort()
  })
  limit.cancel = () => timer.cancel()
  return limit
}

/** How the server behind has answered: with a response, or by changing the protocol. */
type Answer = { readonly kind: 'response'; readonly response: IncomingMessage } | ({ readonly kind: 'upgraded' } & Upgraded)

/** A connection that was kept may have been closed by the other side just now: what has no body is sent once more, on a new one. */
async function send(request: GatewayRequest, options: RequestOptions, parts: ForwardParts): Promise<Answer> {
  try {
    return await sendOnce(request, options, parts)
  } catch (error) {
    if (!(error instanceof ClosedConnection)) throw error
    return sendOnce(request, { ...options, agent: false }, parts)
  }
}

class ClosedConnection extends Error {}

function sendOnce(request: GatewayRequest, options: RequestOptions, parts: ForwardParts): Promise<Answer> {
  const { exchange } = request
  const length = exchange.announcedBytes
  const headers = headersFor(request, options, parts)
  return new Promise((resolve, reject) => {
    const sent = httpsRequest({ ...options, method: request.method, path: targetOf(request, parts.pathPrefix), headers })
    sent.on('response', (response) => resolve({ kind: 'response', response }))
    sent.on('upgrade', (response, socket, head) => resolve({ kind: 'upgraded', response, socket, head }))
    sent.on('error', (error: NodeJS.ErrnoException) => {
      const isClosed = length === 0 && sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      reject(isClosed ? new ClosedConnection(error.message, { cause: error }) : error)
    })
    if (length === 0) sent.end()
    else exchange.bodyStream().on('error', reject).pipe(sent)
  })
}

function headersFor(request: GatewayRequest, { host, port }: RequestOptions, { tellsUids }: ForwardParts): HeaderFields {
  const { exchange, user, auditId, trace } = request
  const headers = passedRequestHeaders(exchange, { user, auditId, tellsUid: tellsUids, traceparent: trace?.span?.traceparent })
  headers['host'] = host?.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  if (exchange.announcedBytes === undefined) headers['transfer-encoding'] = 'chunked'
  if (exchange.upgrade !== undefined) {
    headers['connection'] = 'Upgrade'
    headers['upgrade'] = exchange.header('upgrade') ?? ''
  }
  return headers
}

/** Path and query as the client has sent them. */
function targetOf({ exchange, path }: GatewayRequest, pathPrefix: string): string {
  const { target } = exchange
  if (target.startsWith(`${pathPrefix}/`)) return target.slice(pathPrefix.length)
  const mark = target.indexOf('?')
  return `${encodeURI(path)}${mark < 0 ? '' : target.slice(mark)}`
}

const redirectText = 'the backend attempted to redirect this request, which is not permitted'

/** Writes the answer to the client as fast as the client takes it. */
async function passAnswer(request: GatewayRequest, response: IncomingMessage, { rejectsRedirects, state }: ForwardParts): Promise<void> {
  const { exchange } = request
  const code = response.statusCode ?? 502
  if (rejectsRedirects && code >= 300 && code < 400 && response.headers.location !== undefined) {
    response.destroy()
    throw new PlainRefusal(502, redirectText)
  }
  const { 'content-type': _type, ...common } = commonHeaders(request, '')
  const passed = passedResponseHeaders(response.headersDistinct)
  const warnings = [...listed(common.warning), ...listed(passed.warning)]
  request.code = code
  exchange.begin(code, { ...common, ...passed, 'audit-id': request.auditId, ...(warnings.length === 0 ? {} : { warning: warnings }) })
  const watch = { request, finish: () => response.destroy(), compare() {} }
  if (request.isLongRunning) {
    request.leave()
    request.audit?.responseStarted()
    state.watches.add(watch)
  }
  try {
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      request.sentBytes += chunk.length
      if (!exchange.write(chunk)) await exchange.drained()
      if (exchange.isClosed) return
    }
    exchange.end(Object.keys(response.trailersDistinct).length === 0 ? undefined : passedResponseHeaders(response.trailersDistinct))
  } catch {
    // The client sees that the answer is not whole.
    exchange.destroy()
  } finally {
    state.watches.delete(watch)
  }
}

function listed(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}
