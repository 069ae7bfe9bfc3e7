import type { Resource, Subresource } from '@orch/core/catalogue'
import { isJsonObject, printValue } from '@orch/core/json'
import { type ApiObject, badRequest, type FieldError, internal, invalid, printTime, StatusError, toInstant } from '@orch/core/meta'
import type { Clock } from '@orch/platform'
import type { Admitted, Admitter, Admitting, Operation } from '../admission/admitter.ts'
import type { GatewayRequest } from '../request.ts'
import { objectPartOf } from '../strategies/object-part.ts'
import type { Served, Target } from '../target.ts'
import type { ChangeDraft, Condition, Draft, WriteStep } from './draft.ts'
import { inOrder } from './prepare.ts'

/** What asking admission needs. */
export interface AdmissionParts {
  readonly admitter: Pick<Admitter, 'mutate' | 'validate' | 'settle'>
  readonly clock: Clock
}

/** Asks mutating admission, and takes from its answer what the writer could have written. */
export const mutate: WriteStep<AdmissionParts> = async (draft, { admitter, clock }) => {
  const { write, object, live } = draft
  // What may be changed in place from here on: admission has seen the object itself.
  const own: ApiObject = { ...object, metadata: { ...object.metadata } }
  draft.object = own
  if (write.isAdmitted) return
  const admitted = await admitter.mutate(admittingOf(draft, operationOf(draft), object))
  if (admitted === undefined) return
  keep(draft, admitted)
  draft.mutation = admitted
  if (admitted.object === undefined) return
  const { shownAs, target } = write
  // Some of what was changed is not taken, through a subresource or from an object that is there: validating has not seen what is left.
  if (target.subresource !== undefined || live !== undefined) draft.mutation = undefined
  if (shownAs !== undefined) {
    draft.object = shownAs.take(own, admitted.object)
    return
  }
  const whole = afterAdmission(target.served.resource, admitted.object, object)
  draft.object = takeAdmitted({ target, own: object, left: whole, live: live?.object, now: printTime(toInstant(clock.now())) })
}

/** Asks validating admission, unless the answer to mutating contained its verdict. */
export const admit: WriteStep<AdmissionParts> = async (draft, { admitter }) => {
  const { mutation, object, write } = draft
  if (write.isAdmitted) return
  const admitted = await admitter.validate(admittingOf(draft, operationOf(draft), object), mutation)
  if (admitted !== undefined) keep(draft, admitted)
}

/** Asks about a deletion in both phases, one after the other. */
export const admitDeletion: WriteStep<AdmissionParts, ChangeDraft> = async (draft, { admitter }) => {
  if (draft.write.isAdmitted) return
  const admitting = admittingOf(draft, 'DELETE', undefined)
  const mutated = await admitter.mutate(admitting)
  if (mutated !== undefined) keep(draft, mutated)
  const validated = await admitter.validate(admitting)
  if (validated !== undefined) keep(draft, validated)
}

function operationOf({ live }: Draft): Operation {
  return live === undefined ? 'CREATE' : 'UPDATE'
}

/** Adds what an answer demands of the commit. */
function keep(draft: Draft, { conditions, reservations }: Admitted): void {
  if (conditions.length > 0) draft.conditions = joinConditions(draft.conditions, conditions)
  if (reservations.length > 0) draft.reservations = [...draft.reservations, ...reservations]
}

/** Several plugins may rest on the same Namespace, and a commit carries few conditions. */
export function joinConditions(first: readonly Condition[], second: readonly Condition[]): readonly Condition[] {
  const isIn = ({ key, revision }: Condition) => first.some((other) => other.key === key && other.revision === revision)
  return [...first, ...second.filter((one) => !isIn(one))]
}

/** A write as admission sees it. `object` is undefined for a deletion. */
function admittingOf({ write, live }: Draft, operation: Operation, object: ApiObject | undefined): Admitting {
  const { request, target, id, name, options, optionsObject, shownAs } = write
  const { served, subresource } = target
  const { resource } = served
  const show = (shown: ApiObject | undefined) => (shown === undefined ? undefined : (shownAs?.show(shown) ?? shown))
  const ownName = name !== '' ? name : (object?.metadata.name ?? '')
  return {
    request,
    attributes: {
      operation,
      group: resource.group,
      version: resource.version,
      kind: (shownAs ?? resource).kind,
      resource: resource.plural,
      subresource: subresource?.name ?? '',
      namespace: namespaceOf(target, ownName),
      name: ownName,
      object: show(object),
      oldObject: show(live?.object),
      options: optionsOf(operation, options.isDryRun, optionsObject, request),
      user: request.user,
      dryRun: options.isDryRun,
      requestId: request.auditId,
      writeId: id,
    },
  }
}

/** Of the kind that fits what is done: an apply or a PUT may create as well. What the client does not say is left out. */
export function optionsOf(operation: Operation, isDryRun: boolean, given: unknown, { query }: GatewayRequest): unknown {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return given
  const { fieldManager, ...options }: { readonly fieldManager?: unknown } = isJsonObject(given) ? given : {}
  return {
    ...options,
    kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions',
    dryRun: isDryRun ? ['All'] : undefined,
    fieldManager: fieldManager || undefined,
    fieldValidation: (query.isEmpty ? undefined : query.get('fieldValidation')) || undefined,
    force: undefined,
  }
}

/** A Namespace lies in itself. */
export function namespaceOf({ served: { resource }, info }: Target, name: string): string {
  if (resource.isNamespaced) return info.namespace
  return resource.group === '' && resource.plural === 'namespaces' ? name : ''
}

/** Reads an object that admission returned. Plugins give whole objects of the same kind; theirs alone would be the fault if not. */
export function afterAdmission(
  described: Pick<Resource | Subresource, 'group' | 'kind' | 'version' | 'type' | 'apiVersion' | 'readers'>,
  object: unknown,
  shown?: ApiObject,
): ApiObject {
  try {
    return inOrder(described, object, shown)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw internal(`admission left an object that is no ${described.kind}: ${error.status.message}`, { cause: error })
  }
}

/** An object before and after mutating admission. */
export interface AdmittedObject {
  readonly target: Pick<Target, 'served' | 'subresource'>
  /** As the write has made it. */
  readonly own: ApiObject
  /** As admission left it. */
  readonly left: ApiObject
  /** Absent: it is created. */
  readonly live: ApiObject | undefined
  /** Time that the server fills in. */
  readonly now: string
}

/**
 * What is written after admission has changed an object. What is the server's to say stays as it was: a webhook may be
 * anybody's. What a kind derives from the rest is derived of an update anew; of a new object it is derived after this.
 */
export function takeAdmitted({ target, own, left, live, now }: AdmittedObject): ApiObject {
  const { served, subresource } = target
  if (subresource !== undefined) {
    const merged = objectPartOf(served.strategy, subresource.name).merge(left, own, now)
    return { ...merged, metadata: keepMetadata(own, merged) }
  }
  refuseMove(served, { own, left, isNew: live === undefined })
  const object: ApiObject = { ...left, metadata: keepMetadata(own, left) }
  if (served.hasStatus) {
    if (own.status !== undefined) object.status = own.status
    else if (object.status !== undefined) delete object.status
  }
  if (live !== undefined) served.strategy.rules.prepareUpdate?.(object, live)
  return object
}

const kept = [
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
    // Almost always nothing was touched, and an object from which a member was deleted is slow from then on.
    if (own[field] === metadata[field]) continue
    if (own[field] === undefined) delete metadata[field]
    else Object.assign(metadata, { [field]: own[field] })
  }
  return metadata
}

/** A new object may be given another name, but not another namespace; one that is there already neither. */
function refuseMove({ kind }: Served, { own, left, isNew }: Pick<AdmittedObject, 'own' | 'left'> & { readonly isNew: boolean }): void {
  const { name, namespace } = left.metadata
  const isMoved = (namespace ?? '') !== (own.metadata.namespace ?? '')
  if (isNew && isMoved) throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  const errors: FieldError[] = []
  if (!isNew && (name ?? '') !== (own.metadata.name ?? '')) errors.push(immutable('metadata.name', name))
  if (isMoved) errors.push(immutable('metadata.namespace', namespace))
  if (errors.length > 0) throw invalid(kind, own.metadata.name ?? '', errors)
}

function immutable(field: string, value: unknown): FieldError {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${printValue(value ?? '')}: field is immutable` }
}
