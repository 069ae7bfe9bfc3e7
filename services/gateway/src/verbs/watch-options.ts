import type { Freshness, WatchFormat } from '@orch/core/contracts'
import { notAcceptable } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import type { ReadPoint } from '@orch/core/read'
import type { Clock } from '@orch/platform'
import { includeObjectOf, notOfThisKind } from '../representations/respond-stored.ts'
import { type Draws, type GatewayRequest, queryInteger, streamedMediaTypes } from '../request/index.ts'
import type { Served } from '../target/target.ts'

/** The format of events for this client. A stream cannot be YAML, and CBOR is converted from JSON. */
export function watchFormatOf(request: GatewayRequest, { resource }: Served, { names }: { readonly names: Names }): WatchFormat {
  const { format, representation } = request.answer
  // One message of a WebSocket is one event, and events in CBOR have no separator.
  if (format === 'cbor' && request.exchange.upgrade !== undefined) throw notAcceptable(streamedMediaTypes(names, request))
  if (format === 'yaml') throw notAcceptable(streamedMediaTypes(names, request))
  switch (representation.kind) {
    case 'object': {
      if (format !== 'protobuf') return { kind: 'json' }
      const { apiVersion, kind, readers } = resource
      if (readers.protobuf === undefined) throw notAcceptable(streamedMediaTypes(names, request))
      return { kind: 'protobuf', apiVersion, objectKind: kind, type: readers.protobuf.type }
    }
    case 'table': {
      const include = includeObjectOf(request.query)
      return { kind: 'table', profile: names.profile, objectKind: resource.stored.kind, version: representation.version, include }
    }
    case 'metadata':
      if (representation.isList) throw notOfThisKind('PartialObjectMetadataList', 'is not a list', resource)
      return { kind: 'metadata', profile: names.profile, version: representation.version, isProtobuf: format === 'protobuf' }
  }
}

/**
 * Duration of a watch in milliseconds: `timeoutSeconds`, or once to twice the minimum. A negative one ends at once. Watches end so that clients spread
 * again over servers, for which virtual time has no need.
 */
export function lifeOf(
  { query }: GatewayRequest,
  {
    draws,
    clock,
    watchLifeMs: shortestMs,
  }: { readonly draws: Pick<Draws, 'watchLife'>; readonly clock: Clock; readonly watchLifeMs: number },
): number {
  const seconds = queryInteger(query, 'timeoutSeconds') ?? 0
  if (seconds !== 0) return Math.max(0, seconds) * 1000
  return clock.isVirtual === true ? Number.POSITIVE_INFINITY : shortestMs + draws.watchLife(shortestMs)
}

/** The state that a watch begins with, as storage reads it. */
export function toFreshness(point: ReadPoint): Freshness {
  switch (point.kind) {
    case 'notOlderThan':
      return { kind: 'notOlderThan', revision: point.revision, asked: point.asked }
    case 'any':
      return { kind: 'any', beginsWatch: true }
    case 'latest':
      return { kind: 'latest' }
  }
}
