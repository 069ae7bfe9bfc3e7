import { type CallContext, objectKey, type ReadQuery, type Subresource } from '@orch/core'
import type { GatewayParts } from '../parts.ts'
import { queryInteger } from '../query.ts'
import type { GatewayRequest } from '../request.ts'
import type { ResourceInfo } from '../request-info.ts'
import type { Served } from '../served.ts'

/** What a resource request is addressed to. */
export interface Target {
  readonly info: ResourceInfo
  readonly served: Served
  readonly subresource: Subresource | undefined
}

/** What one verb does with a request. It answers, or throws. */
export type Verb = (request: GatewayRequest, target: Target, parts: GatewayParts) => void | Promise<void>

/** The parameters that say how fresh and how much. */
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

/** `timeoutSeconds` of a list may shorten the time that it may take; it never lengthens it. */
export function shortenDeadline(request: GatewayRequest): void {
  const seconds = queryInteger(request.query, 'timeoutSeconds') ?? 0
  if (seconds > 0) request.deadlineMs = Math.min(request.deadlineMs, request.startedMs + seconds * 1000)
}

/** Milliseconds that a request may still take. */
export function remainingMs(request: GatewayRequest, { clock }: GatewayParts): number {
  return Math.max(0, request.deadlineMs - clock.monotonic())
}

/** What calls to other services on behalf of a request are told. */
export function callContext(request: GatewayRequest, parts: GatewayParts): CallContext {
  return { ...originOf(request), timeoutMs: remainingMs(request, parts) }
}

/** Whose request a call belongs to. */
export function originOf({ trace, auditId }: GatewayRequest): Pick<CallContext, 'traceparent' | 'requestId'> {
  return { traceparent: trace?.span?.traceparent, requestId: auditId }
}

/** Where an object of the target lies in storage. */
export function keyOf({ served, info }: Target, name: string): string {
  const { isNamespaced, stored } = served.resource
  return objectKey(stored.prefix, isNamespaced ? info.namespace : undefined, name)
}
