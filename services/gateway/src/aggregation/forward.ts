import type { RequestOptions } from 'node:https'
import { timeout } from '@orch/core/meta'
import { type Clock, type Log, messageOf } from '@orch/platform'
import { UnresolvedService, unreachedReason } from '@orch/platform/webhooks'
import { type GatewayRequest, PlainRefusal, UnreachedServer } from '../request/index.ts'
import { isAvailable, type RemoteApi } from './api-service.ts'
import type { Backends } from './backends.ts'
import { authorityOf } from './http2-sessions.ts'
import { type PassAnswerParts, passAnswer } from './pass-answer.ts'
import { passUpgrade } from './pass-upgrade.ts'
import { passedRequestHeaders } from './passed-headers.ts'
import type { Outgoing } from './send-behind.ts'

/** The dependencies of forwarding a request. */
export interface ForwardParts extends PassAnswerParts {
  readonly backends: Backends
  readonly clock: Pick<Clock, 'after' | 'monotonic'>
  readonly log: Pick<Log, 'warn'>
  readonly pathPrefix: string
  /** True if remote servers receive the uids of users. */
  readonly tellsUids: boolean
}

/** Discovery must not wait for a slow remote server, as all clients wait for discovery. */
const discoveryMsMax = 5_000

/** Forwards a request to the server of its group version and returns the answer, both as streams. */
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

/** The condition of the APIService may not show it yet, so it is logged. */
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

/** The deadline of the request. A long-running request, such as a watch, ends with the client or with the remote server. */
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

/** Path and query as sent by the client. */
function targetOf({ exchange, path }: GatewayRequest, pathPrefix: string): string {
  const { target } = exchange
  if (target.startsWith(`${pathPrefix}/`)) return target.slice(pathPrefix.length)
  const mark = target.indexOf('?')
  return `${encodeURI(path)}${mark < 0 ? '' : target.slice(mark)}`
}
