import { badRequest } from '@orch/core/meta'
import type { ReadQuery } from '@orch/core/read'
import { type GatewayRequest, queryBoolean, queryInteger } from '../request/index.ts'
import type { SubresourceTarget, Target } from '../target/target.ts'

/** A verb, with the parts it needs. It answers a request, or throws. */
export type Verb<Parts> = (request: GatewayRequest, target: Target, parts: Parts) => void | Promise<void>

/** A verb of a subresource with a separate kind. */
export type SubresourceVerb<Parts> = (request: GatewayRequest, target: SubresourceTarget, parts: Parts) => void | Promise<void>

/** The parameters about freshness and size. */
export function readQueryOf({ query }: GatewayRequest): ReadQuery {
  return {
    resourceVersion: query.get('resourceVersion'),
    resourceVersionMatch: query.get('resourceVersionMatch'),
    limit: query.get('limit'),
    continue: query.get('continue'),
    watch: query.get('watch'),
    sendInitialEvents: query.get('sendInitialEvents'),
    allowWatchBookmarks: query.get('allowWatchBookmarks'),
  }
}

/** Refuses `export`, which earlier releases had for reads of one object. */
export function refuseExport({ query }: GatewayRequest): void {
  if (query.get('export') === undefined || !queryBoolean(query, 'export')) return
  throw badRequest('the export parameter, deprecated since v1.14, is no longer supported')
}

/** `timeoutSeconds` of a list may shorten its timeout, but not extend it. */
export function shortenDeadline(request: GatewayRequest): void {
  const seconds = queryInteger(request.query, 'timeoutSeconds') ?? 0
  if (seconds > 0) request.deadlineMs = Math.min(request.deadlineMs, request.startedMs + seconds * 1000)
}
