import { randomUUID } from 'node:crypto'
import type { Resource, Subresource } from '@orch/core/catalogue'
import { type ApiObject, internal, printTime, StatusError, toInstant } from '@orch/core/meta'
import type { Clock } from '@orch/platform'
import type { Admitted, Admitter, Admitting, Operation } from '../admission/admitter.ts'
import type { GatewayRequest } from '../request.ts'
import type { Target } from '../target.ts'
import { takeAdmitted } from './admitted-object.ts'
import { inOrder } from './candidate.ts'
import type { Condition } from './commit.ts'
import type { PlannedWrite } from './write.ts'

/** What asking admission needs. */
export interface AdmittingParts {
  readonly admitter: Pick<Admitter, 'mutate' | 'validate' | 'validatedAhead'>
  readonly clock: Clock
}

/** What a write does to its object; at least one of the two is there. */
export interface ObjectChange {
  readonly operation: Operation
  /** Absent: it is deleted. */
  readonly object: ApiObject | undefined
  /** Absent: it is created. */
  readonly live: ApiObject | undefined
}

/** What admission is told of a write. */
function admittingOf(plan: PlannedWrite, { operation, object, live }: ObjectChange): Admitting {
  const { request, target, id, name, options, optionsObject, shownAs } = plan
  const { served, subresource } = target
  const { plural } = served.resource
  const { kind } = shownAs ?? served.resource
  const show = (shown: ApiObject | undefined) => (shown === undefined ? undefined : (shownAs?.show(shown) ?? shown))
  const ownName = name !== '' ? name : (object?.metadata.name ?? '')
  return {
    request,
    attributes: {
      operation,
      group: served.resource.group,
      version: served.resource.version,
      kind,
      resource: plural,
      subresource: subresource?.name ?? '',
      namespace: namespaceOf(target, ownName),
      name: ownName,
      object: show(object),
      oldObject: show(live),
      options: optionsOf(operation, options.isDryRun, optionsObject, request),
      user: request.user,
      dryRun: options.isDryRun,
      requestId: request.auditId,
      writeId: id,
    },
  }
}

/** Of the kind that fits what is done: an apply or a PUT may create as well. What the client does not say is left out. */
function optionsOf(operation: Operation, isDryRun: boolean, given: unknown, { query }: GatewayRequest): unknown {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return given
  const { fieldManager, ...options } = given as { readonly fieldManager?: string }
  return {
    ...options,
    kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions',
    dryRun: isDryRun ? ['All'] : undefined,
    fieldManager: fieldManager || undefined,
    fieldValidation: query.get('fieldValidation') || undefined,
    force: undefined,
  }
}

/** A Namespace lies in itself. */
function namespaceOf({ served: { resource }, info }: Target, name: string): string {
  if (resource.isNamespaced) return info.namespace
  return resource.group === '' && resource.plural === 'namespaces' ? name : ''
}

/** Mutating admission: the object as it is then, which is the write's own again. */
export async function mutated(
  plan: PlannedWrite,
  change: ObjectChange & { readonly object: ApiObject },
  parts: AdmittingParts,
): Promise<Admitted & { readonly object: ApiObject }> {
  const { object } = change
  if (plan.isAdmitted) return { object: ownCopy(object), conditions: [], reservations: [] }
  const admitted = await parts.admitter.mutate(admittingOf(plan, change))
  if (admitted.object === undefined) return { ...admitted, object: ownCopy(object) }
  const left = admitted.object as ApiObject
  const { shownAs, target } = plan
  // Some of what was changed is not taken, through a subresource or from an object that is there: validating has not seen what is left.
  const isTaken = target.subresource === undefined && change.live === undefined
  const taken = isTaken ? admitted : { ...admitted, ahead: undefined }
  if (shownAs !== undefined) return { ...taken, object: shownAs.take(ownCopy(object), left) }
  const whole = afterAdmission(target.served.resource, left, object)
  return {
    ...taken,
    object: takeAdmitted({ plan, own: object, left: whole, live: change.live, now: printTime(toInstant(parts.clock.now())) }),
  }
}

/** What may be changed in place: admission has seen the object itself. */
function ownCopy(object: ApiObject): ApiObject {
  return { ...object, metadata: { ...object.metadata } }
}

/** Validating admission of what mutating has left. */
export async function validated(
  plan: PlannedWrite,
  change: ObjectChange,
  mutation: Admitted,
  { admitter }: AdmittingParts,
): Promise<Admitted> {
  if (plan.isAdmitted) return { object: undefined, conditions: [], reservations: [] }
  return admitter.validatedAhead(mutation) ?? admitter.validate(admittingOf(plan, change))
}

/** A request with a body that is not the object it writes: an eviction, a binding, the options of a connection. */
export interface BodyRequest extends Pick<PlannedWrite, 'request' | 'target'> {
  readonly operation: 'CREATE' | 'CONNECT'
  /** What the body is. */
  readonly described: Pick<Resource | Subresource, 'kind' | 'version' | 'type' | 'apiVersion'>
  readonly name: string
  readonly object: ApiObject
  /** What the client said beside the body; a connection says nothing. */
  readonly options: { readonly isDryRun: boolean; readonly object: unknown }
}

/** Both phases of admission; gives the body as admission left it. */
export async function admitBody(asked: BodyRequest, parts: AdmittingParts): Promise<ApiObject> {
  const object = await mutateBody(asked, parts)
  await validateBody({ ...asked, object }, parts)
  return object
}

/** Mutating admission: the body as it is then. */
export async function mutateBody(asked: BodyRequest, parts: AdmittingParts): Promise<ApiObject> {
  const { object } = await parts.admitter.mutate(admittingBody(asked))
  return object === undefined ? asked.object : afterAdmission(asked.described, object as ApiObject)
}

/** Validating admission. */
export async function validateBody(asked: BodyRequest, parts: AdmittingParts): Promise<void> {
  await parts.admitter.validate(admittingBody(asked))
}

function admittingBody({ request, target, operation, described, name, object, options }: BodyRequest): Admitting {
  const { group, version, plural } = target.served.resource
  return {
    request,
    attributes: {
      operation,
      group,
      version,
      kind: described.kind,
      resource: plural,
      subresource: target.subresource?.name ?? '',
      namespace: namespaceOf(target, name),
      name,
      object,
      oldObject: undefined,
      options: optionsOf(operation, options.isDryRun, options.object, request),
      user: request.user,
      dryRun: options.isDryRun,
      requestId: request.auditId,
      writeId: randomUUID(),
    },
  }
}

/** Plugins give whole objects of the same kind; theirs alone would be the fault if not. */
function afterAdmission(described: BodyRequest['described'], object: ApiObject, shown?: ApiObject): ApiObject {
  try {
    return inOrder(described, object, shown)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw internal(`admission left an object that is no ${described.kind}: ${error.status.message}`, { cause: error })
  }
}

/** Deletions are asked about in both phases, one after the other. */
export async function admitDeletion(plan: PlannedWrite, live: ApiObject, parts: AdmittingParts): Promise<Admitted> {
  if (plan.isAdmitted) return { object: undefined, conditions: [], reservations: [] }
  const admitting = admittingOf(plan, { operation: 'DELETE', object: undefined, live })
  return both(await parts.admitter.mutate(admitting), await parts.admitter.validate(admitting))
}

/** What two phases want together. */
export function both(first: Admitted, second: Admitted): Admitted {
  return {
    object: undefined,
    // Several plugins may rest on the same Namespace, and a commit carries few conditions.
    conditions: [...first.conditions, ...second.conditions.filter((one) => !first.conditions.some((other) => isSame(one, other)))],
    reservations: [...first.reservations, ...second.reservations],
  }
}

function isSame(one: Condition, other: Condition): boolean {
  return one.key === other.key && one.revision === other.revision
}
