import type { Resource } from '@orch/core/catalogue'
import { jsonEqual } from '@orch/core/json'
import { type ApiObject, carryOverMeta, type FieldError, type ObjectMeta } from '@orch/core/meta'
import { type BuiltIn, requireType } from '@orch/core/schema'
import { approvedStatus, issuedStatus, validateIssued } from './certificate-parts.ts'

/** What a subresource that is a part of the object itself lets its writers change. */
export interface ObjectPart {
  /** The live object with the writer's part in it; `now` is the time that the server fills in. */
  merge(given: ApiObject, live: ApiObject, now: string): ApiObject
  /** Metadata that a writer of this part cannot change. Absent: all of it. */
  readonly keptMetadata?: readonly MetadataField[]
  /** Rules of this part. Absent: those of the catalogue. */
  validate?(object: ApiObject, live: ApiObject): readonly FieldError[]
  /** Rules on top of those of the catalogue. */
  validateToo?(object: ApiObject, live: ApiObject): readonly FieldError[]
  /** The part holds what the writer wants, and is counted by the generation. */
  readonly isWanted?: boolean
}

type MetadataField = keyof ObjectMeta & string

type Container = BuiltIn<'core/v1.EphemeralContainer'>

/** A status is written together with the metadata of the object, but for what the kind keeps. */
function statusKeeping(keptMetadata: readonly MetadataField[]): ObjectPart {
  const known = statusParts.get(keptMetadata)
  if (known !== undefined) return known
  const part: ObjectPart = {
    keptMetadata,
    merge: (given, live) => ({ ...live, metadata: metadataOf(given, live, keptMetadata), status: given.status }),
  }
  statusParts.set(keptMetadata, part)
  return part
}

/** By what they keep: kinds share few such lists. */
const statusParts = new WeakMap<readonly MetadataField[], ObjectPart>()

const finalize: ObjectPart = {
  keptMetadata: [],
  merge(given, live) {
    const { finalizers = [] } = requireType('core/v1.Namespace', given).spec
    return withSpec(withMetadata(given, live), { finalizers })
  },
  validate: () => [],
}

const ephemeralContainers: ObjectPart = {
  merge: (given, live) => withSpec(live, { ephemeralContainers: containersOf(given) }),
  validate: validateAddedContainers,
}

const approval: ObjectPart = {
  keptMetadata: [],
  merge: (given, live, now) => ({ ...withMetadata(given, live), status: approvedStatus(given, live, now) }),
}

const requestStatus: ObjectPart = {
  keptMetadata: [],
  merge: (given, live, now) => ({ ...withMetadata(given, live), status: issuedStatus(given, live, now) }),
  validateToo: validateIssued,
}

/** What has been put together before it is written. */
const whole: ObjectPart = { merge: (given) => given, validate: () => [] }
const scale: ObjectPart = { merge: (given) => given, isWanted: true }

const parts: Readonly<Record<string, ObjectPart>> = {
  finalize,
  ephemeralcontainers: ephemeralContainers,
  approval,
  binding: whole,
  bindings: whole,
  scale,
}

/** The part of an object of this kind that a subresource names. */
export function objectPartOf({ kind, statusKeeps }: Resource, subresource: string): ObjectPart {
  if (subresource === 'status') return kind === 'CertificateSigningRequest' ? requestStatus : statusKeeping(statusKeeps)
  return parts[subresource] ?? whole
}

/** The writer's metadata with the fields that the server owns, and those that the part keeps, as they are. */
function metadataOf(given: ApiObject, live: ApiObject, kept: readonly MetadataField[]): ObjectMeta {
  const metadata = carryOverMeta(given.metadata, live.metadata)
  for (const field of ['generation', 'selfLink', 'resourceVersion', ...kept] as const) {
    delete metadata[field]
    if (live.metadata[field] !== undefined) Object.assign(metadata, { [field]: live.metadata[field] })
  }
  return metadata
}

function withMetadata(given: ApiObject, live: ApiObject): ApiObject {
  return { ...live, metadata: metadataOf(given, live, []) }
}

function withSpec(object: ApiObject, change: Record<string, unknown>): ApiObject {
  return { ...object, spec: { ...(object.spec ?? {}), ...change } }
}

function containersOf(pod: ApiObject): readonly Container[] {
  return requireType('core/v1.Pod', pod).spec.ephemeralContainers ?? []
}

/** A container that was put into a running pod stays as it was put there. */
function validateAddedContainers(object: ApiObject, live: ApiObject): FieldError[] {
  const after = new Map(containersOf(object).map((container) => [container.name, container]))
  return containersOf(live).flatMap((container) => {
    const kept = after.get(container.name)
    if (kept !== undefined && jsonEqual(kept, container)) return []
    const what = kept === undefined ? 'removed' : 'changed'
    const message = `Forbidden: existing ephemeral containers ${JSON.stringify(container.name)} may not be ${what}\n`
    return [{ reason: 'FieldValueForbidden', field: 'spec.ephemeralContainers', message }]
  })
}
