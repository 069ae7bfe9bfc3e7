import type { ApiObject, FieldError } from '@orch/core'

/** What a subresource that is a part of the object itself lets its writers change. */
export interface ObjectPart {
  /** The live object with the writer's part in it. */
  merge(given: ApiObject, live: ApiObject): ApiObject
  /** Rules of this part. Absent: those of the catalogue. */
  validate?(object: ApiObject, live: ApiObject): readonly FieldError[]
  /** The part holds what the writer wants, and is counted by the generation. */
  readonly isWanted?: boolean
}

interface Condition {
  readonly type: string
}

interface Container {
  readonly name: string
}

const status: ObjectPart = { merge: (given, live) => ({ ...live, status: given.status }) }

const finalize: ObjectPart = {
  merge: (given, live) => withSpec(live, { finalizers: (given.spec as { finalizers?: string[] } | undefined)?.finalizers ?? [] }),
  validate: () => [],
}

const ephemeralContainers: ObjectPart = {
  merge: (given, live) => withSpec(live, { ephemeralContainers: containersOf(given) }),
  validate: validateAddedContainers,
}

/** Approval writes the two conditions that decide; the status path writes all others. */
const approval: ObjectPart = {
  merge: (given, live) => withConditions(live, [...conditionsOf(live).filter(isOther), ...conditionsOf(given).filter(isDecision)]),
}

const requestStatus: ObjectPart = {
  merge: (given, live) =>
    withConditions({ ...live, status: given.status }, [...conditionsOf(live).filter(isDecision), ...conditionsOf(given).filter(isOther)]),
}

/** What has been put together before it is written. */
const whole: ObjectPart = { merge: (given) => given, validate: () => [] }
const scale: ObjectPart = { merge: (given) => given, isWanted: true }

const parts: Readonly<Record<string, ObjectPart>> = {
  status,
  finalize,
  ephemeralcontainers: ephemeralContainers,
  approval,
  binding: whole,
  bindings: whole,
  scale,
}

/** The part of an object of this kind that a subresource names. */
export function objectPartOf(kind: string, subresource: string): ObjectPart {
  if (kind === 'CertificateSigningRequest' && subresource === 'status') return requestStatus
  return parts[subresource] ?? whole
}

function withSpec(object: ApiObject, change: Record<string, unknown>): ApiObject {
  return { ...object, spec: { ...(object.spec as object | undefined), ...change } }
}

function withConditions(object: ApiObject, conditions: readonly Condition[]): ApiObject {
  const { conditions: _conditions, ...rest } = (object.status ?? {}) as { conditions?: unknown }
  return { ...object, status: conditions.length === 0 ? rest : { ...rest, conditions } }
}

function conditionsOf({ status: given }: ApiObject): readonly Condition[] {
  return (given as { conditions?: readonly Condition[] } | undefined)?.conditions ?? []
}

function isDecision({ type }: Condition): boolean {
  return type === 'Approved' || type === 'Denied'
}

function isOther(condition: Condition): boolean {
  return !isDecision(condition)
}

function containersOf({ spec }: ApiObject): readonly Container[] {
  return (spec as { ephemeralContainers?: readonly Container[] } | undefined)?.ephemeralContainers ?? []
}

/** A container that was put into a running pod stays as it was put there. */
function validateAddedContainers(object: ApiObject, live: ApiObject): FieldError[] {
  const after = new Map(containersOf(object).map((container) => [container.name, container]))
  return containersOf(live).flatMap((container) => {
    const kept = after.get(container.name)
    if (kept !== undefined && JSON.stringify(kept) === JSON.stringify(container)) return []
    const what = kept === undefined ? 'removed' : 'changed'
    const message = `Forbidden: existing ephemeral containers ${JSON.stringify(container.name)} may not be ${what}\n`
    return [{ reason: 'FieldValueForbidden', field: 'spec.ephemeralContainers', message }]
  })
}
