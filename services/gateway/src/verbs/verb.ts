import type { ReadQuery } from '@orch/core/read'
import type { GatewayRequest } from '../request/request.ts'
import { queryInteger } from '../request/request-info.ts'
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

/** `timeoutSeconds` of a list may shorten its timeout, but not extend it. */
export function shortenDeadline(request: GatewayRequest): void {
  const seconds = queryInteger(request.query, 'timeoutSeconds') ?? 0
  if (seconds > 0) request.deadlineMs = Math.min(request.deadlineMs, request.startedMs + seconds * 1000)
}
