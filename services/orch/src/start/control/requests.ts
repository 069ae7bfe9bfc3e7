import type { LoggedRequest } from '@orch/core/contracts'
import { badRequest } from '@orch/core/meta'
import { asBadRequest, type ControlAnswer, type ControlCall, matchOf, type RequestFilter, type RequestLog } from '@orch/gateway'
import { onAbort } from '@orch/platform'
import { object, type Route, readCount, readFlag, route } from './route.ts'

/** The number of requests in one answer. */
const pageMax = 10_000
const pageUsual = 500

/** `/requests`: the request log, as a page or a stream. */
export function requestRoutes(log: RequestLog): readonly Route[] {
  return [
    route(
      `GET /requests?${filters.join('&')}&after&limit&last&watch`,
      'the log of requests, oldest first; ?watch=true streams it',
      (call) => {
        const filter = readFilter(call)
        const after = readCount(call, 'after', { otherwise: 0, max: Number.MAX_SAFE_INTEGER })
        return readFlag(call, 'watch') === true ? streamOf(log, filter, { after, signal: call.signal }) : pageOf(log, filter, after, call)
      },
    ),
    route('DELETE /requests', 'forgets all requests', () => {
      log.clear()
      return object({})
    }),
  ]
}

/** The query parameters that select requests. */
const filters = ['user', 'agent', 'verb', 'resource', 'subresource', 'namespace', 'name', 'path', 'since', 'changed', 'noop', 'fault']

function readFilter(call: ControlCall): RequestFilter {
  const { query } = call
  const text = (name: string) => matchOf(query.get(name))
  const fault = query.get('fault')
  const verbs = query.all('verb').flatMap((verb) => verb.split(','))
  return {
    user: text('user'),
    agent: text('agent'),
    verb: verbs.length === 0 ? undefined : verbs,
    resource: query.get('resource'),
    subresource: query.get('subresource'),
    namespace: text('namespace'),
    name: text('name'),
    path: text('path'),
    since: readTime(query.get('since')),
    changed: readFlag(call, 'changed'),
    noop: readFlag(call, 'noop'),
    fault: fault === 'true' || fault === 'false' ? fault === 'true' : fault,
  }
}

function readTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const time = /^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text)
  if (Number.isNaN(time)) throw badRequest(`since=${text}: must be a time such as 2026-01-31T12:00:00Z, or milliseconds since 1970`)
  return time
}

function pageOf(log: RequestLog, filter: RequestFilter, after: number, call: ControlCall): ControlAnswer {
  const limit = readCount(call, 'limit', { otherwise: pageUsual, max: pageMax })
  const last = call.query.get('last') === undefined ? undefined : readCount(call, 'last', { otherwise: 0, max: pageMax })
  const items = asBadRequest('requests', () => (last === undefined ? log.read(filter, after, limit) : log.readLast(filter, after, last)))
  const isWhole = last !== undefined || items.length < limit
  const next = isWhole ? log.total : (items.at(-1)?.id ?? after)
  return object({ items, next, remaining: !isWhole, oldest: log.oldestId })
}

/** The number of requests in one turn of a stream. */
const turnMax = 500
/** Maximum ended watches that a stream has not sent before those are dropped that the log has forgotten. */
const completedMax = 20_000

/**
 * Streams a line for each request after an id, and a second line for a watch that has ended. Queues nothing for a slow reader, which receives the part
 * that the log still has.
 */
function streamOf(
  log: RequestLog,
  filter: RequestFilter,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): ControlAnswer {
  const matches = asBadRequest('requests', () => log.matcher(filter))
  return { kind: 'lines', lines: follow(log, matches, { after, signal }) }
}

async function* follow(
  log: RequestLog,
  matches: (id: number) => LoggedRequest | undefined,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<readonly object[]> {
  let next = after + 1
  /** Watches that have ended since the stream sent them. */
  const completed = new Set<number>()
  let wake = Promise.withResolvers<void>()
  const onEnd = () => wake.resolve()
  const unfollow = log.follow((id) => {
    if (id < next) completed.add(id)
    if (completed.size > completedMax) for (const ended of completed) if (ended < log.oldestId) completed.delete(ended)
    wake.resolve()
  })
  onAbort(signal, onEnd)
  try {
    while (!signal.aborted) {
      const again = [...completed].slice(0, turnMax)
      for (const id of again) completed.delete(id)
      const page = again.map(matches)
      next = Math.max(next, log.oldestId)
      for (const newest = Math.min(log.total, next + turnMax - 1); next <= newest; next++) page.push(matches(next))
      yield page.filter((request) => request !== undefined)
      if (next <= log.total || completed.size > 0) continue
      await wake.promise
      wake = Promise.withResolvers()
    }
  } finally {
    unfollow()
    signal.removeEventListener('abort', onEnd)
  }
}
