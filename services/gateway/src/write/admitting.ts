import { type ApiObject, internal, StatusError } from '@orch/core'
import type { Admitted, Admitting, Operation } from '../admission/admitter.ts'
import type { GatewayParts } from '../parts.ts'
import type { Target } from '../verbs/verb.ts'
import { inOrder } from './candidate.ts'
import type { Condition } from './commit.ts'
import type { PlannedWrite } from './write-loop.ts'

/** What a write does to its object; at least one of the two is there. */
export interface ObjectChange {
  readonly operation: Operation
  /** Absent: it is deleted. */
  readonly object: ApiObject | undefined
  /** Absent: it is created. */
  readonly live: ApiObject | undefined
}

/** What admission is told of a write. */
export function admittingOf({ request, target, id, name, options, optionsObject }: PlannedWrite, change: ObjectChange): Admitting {
  const { operation, object, live } = change
  const { served, subresource } = target
  const { group, version, kind, plural } = served.resource
  const ownName = name !== '' ? name : (object?.metadata.name ?? '')
  return {
    request,
    attributes: {
      operation,
      group,
      version,
      kind,
      resource: plural,
      subresource: subresource?.name ?? '',
      namespace: namespaceOf(target, ownName),
      name: ownName,
      object,
      oldObject: live,
      options: optionsOf(operation, options, optionsObject),
      user: request.user,
      dryRun: options.isDryRun,
      requestId: request.auditId,
      writeId: id,
    },
  }
}

/** Of the kind that fits what is done: an apply or a PUT may create as well. What says nothing is left out. */
function optionsOf(operation: Operation, { isDryRun, fieldManager }: PlannedWrite['options'], given: unknown): unknown {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return given
  return {
    ...(given as object),
    kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions',
    dryRun: isDryRun ? ['All'] : undefined,
    fieldManager: fieldManager === '' ? undefined : fieldManager,
    force: undefined,
  }
}

/** A Namespace lies in itself. */
export function namespaceOf({ served: { resource }, info }: Target, name: string): string {
  if (resource.isNamespaced) return info.namespace
  return resource.group === '' && resource.plural === 'namespaces' ? name : ''
}

/** Mutating admission: the object as it is then, which is the write's own again. */
export async function mutated(
  plan: PlannedWrite,
  change: ObjectChange & { readonly object: ApiObject },
  parts: GatewayParts,
): Promise<Admitted & { readonly object: ApiObject }> {
  const admitted = await parts.admitter.mutate(admittingOf(plan, change))
  if (admitted.object === undefined) return { ...admitted, object: { ...change.object, metadata: { ...change.object.metadata } } }
  return { ...admitted, object: afterAdmission(plan, admitted.object as ApiObject) }
}

/** Plugins give whole objects of the same kind; theirs alone would be the fault if not. */
function afterAdmission({ target: { served } }: PlannedWrite, object: ApiObject): ApiObject {
  try {
    return inOrder(served.resource, object)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw internal(`admission left an object that is no ${served.resource.kind}: ${error.status.message}`, { cause: error })
  }
}

/** Deletions are asked about in both phases, one after the other. */
export async function admitDeletion(plan: PlannedWrite, live: ApiObject, parts: GatewayParts): Promise<Admitted> {
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
