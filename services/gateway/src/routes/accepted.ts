import { noRepresentation, notAcceptable } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { acceptedMediaTypes, clausesOf } from '../request/negotiate.ts'
import { after, type DocumentHandler, type RouteContext, requireRead } from './document.ts'

/** True if accepted types may include a family, such as `application/*`. */
type Families = 'families' | 'no families'

/** The preferred offered type of an `Accept` text; undefined if it accepts none. Without a text the first type. */
export function acceptedType<Type extends string>(
  accept: string | undefined,
  offered: readonly Type[],
  families: Families = 'families',
): Type | undefined {
  if (accept === undefined || accept.trim() === '') return offered[0]
  for (const { type } of clausesOf(accept)) {
    const isFamily = families === 'families' && type.endsWith('/*')
    const found = type === '*/*' ? offered[0] : offered.find((one) => one === type || (isFamily && one.startsWith(type.slice(0, -1))))
    if (found !== undefined) return found
  }
  return undefined
}

/** Serves a document with one form to clients that accept it. */
export function onlyAs<Parts>(type: string, handler: DocumentHandler<Parts>): DocumentHandler<Parts> {
  return after(({ request }) => {
    if (acceptedType(request.exchange.header('accept'), [type], 'no families') === undefined) throw noRepresentation([type])
  }, handler)
}

/** Refuses clients that accept no form of an object without a resource. */
export function requireObjectForm({ request, parts }: Pick<RouteContext<{ readonly names: Names }>, 'request' | 'parts'>): void {
  if (!request.negotiated.hasPlain) throw notAcceptable(acceptedMediaTypes(parts.names, request))
}

/** Refuses methods and clients that a route of built-in kinds has no answer for. */
export function requireRoute({ request, parts }: Pick<RouteContext<{ readonly names: Names }>, 'request' | 'parts'>): void {
  requireRead(request)
  if (!request.negotiated.isKnownType) throw noRepresentation(acceptedMediaTypes(parts.names, request))
}
