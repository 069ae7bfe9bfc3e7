import type { Resource, Subresource } from '@orch/core/catalogue'
import { printValue } from '@orch/core/json'
import { type ApiObject, badRequest, internal, invalid, type PlainFieldError, StatusError } from '@orch/core/meta'
import { objectPartOf } from '../strategies/object-part.ts'
import type { Served, Target } from '../target/target.ts'
import { inOrder } from './prepare.ts'

/** Decodes an object from admission. Plugins return whole objects of the same kind, otherwise they are wrong. */
export function afterAdmission(
  described: Pick<Resource | Subresource, 'group' | 'kind' | 'version' | 'type' | 'apiVersion' | 'readers'>,
  object: unknown,
  shown?: ApiObject,
): ApiObject {
  try {
    return inOrder(described, object, { known: shown })
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw internal(`admission left an object that is no ${described.kind}: ${error.status.message}`, { cause: error })
  }
}

/** An object before and after mutating admission. */
export interface AdmittedObject {
  readonly target: Pick<Target, 'served' | 'subresource'>
  readonly own: ApiObject
  /** The object after admission. */
  readonly left: ApiObject
  /** Undefined for a create. */
  readonly live: ApiObject | undefined
  /** The time to set. */
  readonly now: string
}

/**
 * The object to write after admission has changed it. Server-set members stay unchanged, since anyone may run a webhook. Members that a kind derives
 * from others are derived again on an update; for a new object they are derived afterwards.
 */
export function takeAdmitted({ target, own, left, live, now }: AdmittedObject): ApiObject {
  const { served, subresource } = target
  if (subresource !== undefined) {
    const merged = objectPartOf(served.strategy, subresource.name).merge(left, own, now)
    return { ...merged, metadata: keepMetadata(own, merged) }
  }
  refuseMove(served, { own, left })
  if (live !== undefined) refuseRename(served, { own, left })
  const object: ApiObject = { ...left, metadata: keepMetadata(own, left) }
  if (served.hasStatus) {
    if (own.status !== undefined) object.status = own.status
    else if (object.status !== undefined) delete object.status
  }
  if (live !== undefined) served.strategy.rules.prepareUpdate?.(object, live)
  return object
}

/** True if an object equals the one after admission, so that a verdict about that one applies to it. */
export function isTakenWhole({ metadata, ...taken }: ApiObject, { metadata: leftMetadata, ...left }: ApiObject): boolean {
  return haveSameMembers(metadata, leftMetadata) && haveSameMembers(taken, left)
}

/** Members are compared by identity, as a taken part is not copied. */
function haveSameMembers(one: object, other: object): boolean {
  const members = Object.entries(one)
  return (
    members.length === Object.keys(other).length &&
    members.every(([name, value]) => value !== undefined && Reflect.get(other, name) === value)
  )
}

const kept = [
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
] as const

function keepMetadata({ metadata: own }: ApiObject, { metadata: left }: ApiObject): ApiObject['metadata'] {
  const metadata: ApiObject['metadata'] = { ...left }
  for (const field of kept) {
    // Almost always nothing was changed, and an object from which a member was deleted becomes slow.
    if (own[field] === metadata[field]) continue
    if (own[field] === undefined) delete metadata[field]
    else Object.assign(metadata, { [field]: own[field] })
  }
  return metadata
}

/** An object stays in its namespace. A removed namespace is restored, and a cluster-scoped object loses an added one. */
function refuseMove({ resource }: Served, { own, left }: Pick<AdmittedObject, 'own' | 'left'>): void {
  const { namespace } = left.metadata
  if (!resource.isNamespaced || !namespace || namespace === own.metadata.namespace) return
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
}

/** A new object may get another name, but not lose one that it already has. */
function refuseRename({ kind }: Served, { own, left }: Pick<AdmittedObject, 'own' | 'left'>): void {
  const { name } = left.metadata
  if ((name ?? '') !== (own.metadata.name ?? '')) throw invalid(kind, own.metadata.name ?? '', [immutable('metadata.name', name)])
}

function immutable(field: string, value: unknown): PlainFieldError {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${printValue(value ?? '')}: field is immutable` }
}
