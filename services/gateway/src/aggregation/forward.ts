import type { RequestOptions } from 'node:https'
import { timeout } from '@orch/core/meta'
import { type Clock, type Log, messageOf } from '@orch/platform'
import { UnresolvedService, unreachedReason } from '@orch/platform/webhooks'
import { type HeaderFields, headerText, lengthOf } from '../exchange/exchange.ts'
import type { GatewayRequest } from '../request/request.ts'
import { commonHeaders, OtherServerFailure, PlainRefusal, UnreachedServer } from '../request/respond.ts'
import type { GatewayState } from '../server/state.ts'
import { isAvailable, type RemoteApi } from './api-service.ts'
import type { Backends } from './backends.ts'
import { authorityOf } from './http2-sessions.ts'
import { passUpgrade } from './pass-upgrade.ts'
import { passedRequestHeaders, passedResponseHeaders, passedTrailers } from './passed-headers.ts'
import type { Outgoing, Response } from './send-behind.ts'

/** The dependencies of forwarding a request. */
export interface ForwardParts {
  readonly backends: Backends
  readonly clock: Pick<Clock, 'after' | 'monotonic'>
  readonly log: Pick<Log, 'warn'>
  readonly state: Pick<GatewayState, 'watches'>
  readonly pathPrefix: string
  /** Remote servers receive the uids of users. */
  readonly tellsUids: boolean
  /** A redirect of a remote server is an error; else it goes to the client. */
  readonly rejectsRedirects: boolean
}

/** All clients wait for discovery: it must not wait for a slow remote server. */
const discoveryMsMax = 5_000

/** Forwards a request to the server of its group version, and the answer back, both as streams. */
export async function forward(request: GatewayRequest, api: RemoteApi, parts: ForwardParts): Promise<void> {
  if (!isAvailable(api)) throw unavailable()
  const options = await reach(api, parts)
  const ending = new AbortController()
  request.exchange.onClose(() => ending.abort())
  const limit = limitOf(request, api, ending, parts)
  try {
    const answer = await parts.backends.send(outgoingOf(request, options, parts), { ...options, signal: ending.signal }, api)
    if (answer.kind === 'upgraded') {
      const { upgrade } = request.exchange
      if (upgrade === undefined) {
        answer.socket.destroy()
        throw new Error('the server has changed the protocol without being asked to')
      }
      request.leave()
      return await passUpgrade(request, upgrade, answer)
    }
    await passAnswer(request, answer.response, parts)
  } catch (error) {
    if (request.exchange.isClosed) return
    if (limit.isOver) throw limit.error()
    throw error instanceof PlainRefusal ? error : unreached(request, api, unreachedReason(error), parts)
  } finally {
    limit.cancel()
    ending.abort()
  }
}

function unavailable(): UnreachedServer {
  return new UnreachedServer('service unavailable\n')
}

/** The condition of the APIService may not say it yet, so the log does. */
function unreached({ path, auditId }: GatewayRequest, { name }: RemoteApi, problem: string, { log }: ForwardParts): UnreachedServer {
  log.warn({ apiService: name, problem, path, auditId }, 'a request could not be passed on')
  return new UnreachedServer(`error trying to reach service: ${problem}\n`)
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
  error(): Error
  cancel(): void
}

/** The deadline of the request. A long-running one, such as a watch, ends with the client or with the remote server. */
function limitOf(request: GatewayRequest, api: RemoteApi, ending: AbortController, parts: ForwardParts): Limit {
  const { clock } = parts
  const isDiscovery = request.info.kind === 'path'
  const limit: Limit = {
    isOver: false,
    error: () =>
      isDiscovery
        ? unreached(request, api, 'context deadline exceeded', parts)
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

/** The request as it leaves. */
function outgoingOf(request: GatewayRequest, options: RequestOptions, { pathPrefix, tellsUids }: ForwardParts): Outgoing {
  const { exchange, method, user, auditId, trace } = request
  const headers = passedRequestHeaders(exchange, { user, auditId, tellsUid: tellsUids, traceparent: trace?.span?.traceparent })
  if (exchange.upgrade !== undefined) {
    headers['connection'] = 'Upgrade'
    headers['upgrade'] = exchange.header('upgrade') ?? ''
  }
  return {
    method,
    path: targetOf(request, pathPrefix),
    authority: authorityOf(options),
    headers,
    bodyBytes: exchange.announcedBytes,
    body: () => exchange.bodyStream(),
    upgrades: exchange.upgrade !== undefined,
  }
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
async function passAnswer(request: GatewayRequest, response: Response, { rejectsRedirects, state }: ForwardParts): Promise<void> {
  const { exchange } = request
  const { code } = response
  if (!(code >= 200 && code <= 599)) {
    response.destroy()
    throw new Error(`the server has answered with the status ${code}`)
  }
  if (rejectsRedirects && code >= 300 && code < 400 && response.headers['location'] !== undefined) {
    response.destroy()
    throw new OtherServerFailure(502, redirectText)
  }
  const { headers, bodyBytes } = answerHead(request, response)
  request.code = code
  exchange.begin(code, headers)
  const watch = { request, finish: () => response.destroy(), compare() {} }
  if (request.isLongRunning) {
    request.leave()
    request.audit?.responseStarted()
    state.watches.add(watch)
  }
  try {
    for await (const chunk of response.body) {
      request.sentBytes += chunk.length
      if (bodyBytes !== undefined && request.sentBytes > bodyBytes) throw new Error('the answer is longer than its head says')
      if (!exchange.write(chunk)) await exchange.drained()
      if (exchange.isClosed) return
    }
    if (bodyBytes !== undefined && request.sentBytes < bodyBytes) throw new Error('the answer is shorter than its head says')
    const trailers = passedTrailers(response.trailers())
    exchange.end(Object.keys(trailers).length === 0 ? undefined : trailers)
  } catch {
    // The client sees that the answer is not whole.
    exchange.destroy()
  } finally {
    state.watches.delete(watch)
  }
}

interface AnswerHead {
  readonly headers: HeaderFields
  /** The announced length of the body. Undefined: there is none. */
  readonly bodyBytes: number | undefined
}

/** The head of the answer. This server's own fields and its decision replace the other server's. */
function answerHead(request: GatewayRequest, { code, headers: received }: Response): AnswerHead {
  const { 'content-type': _type, 'cache-control': cacheControl = '', ...ours } = commonHeaders(request, '')
  const { 'content-length': length, ...passed } = passedResponseHeaders(received)
  const bytes = received['transfer-encoding'] === undefined && code !== 204 ? lengthOf(headerText(length) ?? '') : undefined
  const warnings = [...listed(ours.warning), ...listed(passed.warning)]
  const headers = {
    ...{ 'cache-control': cacheControl, ...passed, ...ours },
    ...(warnings.length === 0 ? {} : { warning: warnings }),
    ...(bytes === undefined ? {} : { 'content-length': String(bytes) }),
  }
  const hasBody = request.method !== 'HEAD' && code !== 304
  return { headers, bodyBytes: hasBody ? bytes : undefined }
}

function listed(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}
