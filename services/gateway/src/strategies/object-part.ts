import { fieldSets } from '@orch/core/apply'
import { type Behaviour, writersMetadata } from '@orch/core/catalogue'
import { memo } from '@orch/core/memo'
import { type ApiObject, carryOverMeta, type ObjectMeta } from '@orch/core/meta'
import { type BuiltIn, requireType } from '@orch/core/schema'
import { approvedStatus } from './certificate-parts.ts'
import type { KindRules, MetadataField, ObjectPart } from './kind-rules.ts'

/** As in kube-apiserver, some writes leave no mark: main writes of requests for certificates, and up to 1.31 of ephemeral containers. */
export const specAndStatus = fieldSets.setOfPaths([['f:spec'], ['f:status']])

/** A status is written with the metadata of the object, except for fields that the kind keeps. */
export const statusKeeping = memo(
  (keptMetadata: readonly MetadataField[]): ObjectPart => ({
    keptMetadata,
    merge(given, { status: _status, ...live }) {
      const object: ApiObject = { ...live, metadata: metadataOf(given, live, keptMetadata) }
      if (given.status !== undefined) object.status = given.status
      return object
    },
  }),
)

const finalize: ObjectPart = {
  keptMetadata: [],
  merge(given, live) {
    const { finalizers = [] } = requireType('core/v1.Namespace', given).spec
    return withSpec(withMetadata(given, live), { finalizers })
  },
  validate: () => [],
}

const ephemeralContainers: ObjectPart = {
  merge(given, live) {
    const { ephemeralContainers = [] } = requireType('core/v1.Pod', given).spec
    return withSpec(withMetadata(given, live, writersMetadata), { ephemeralContainers })
  },
  isWanted: true,
}

/** Containers that the live Pod lacks are left unchanged, for the rules to refuse. */
const resize: ObjectPart = {
  merge(given, live) {
    const [after, before] = [requireType('core/v1.Pod', given).spec, requireType('core/v1.Pod', live).spec]
    const containers = resized(after.containers ?? [], before.containers ?? [])
    const { initContainers, resources = before.resources } = after
    return withSpec(withMetadata(given, live, writersMetadata), {
      ...(resources === undefined ? {} : { resources }),
      containers,
      ...(initContainers === undefined ? {} : { initContainers: resized(initContainers, before.initContainers ?? []) }),
    })
  },
  isWanted: true,
}

type Container = BuiltIn<'core/v1.Container'>

function resized(given: readonly Container[], live: readonly Container[]): readonly Container[] {
  if (given.length !== live.length || given.some(({ name }, index) => name !== live[index]?.name)) return given
  return live.map((container, index) => {
    const { resources = container.resources, resizePolicy = container.resizePolicy } = given[index] ?? {}
    return { ...container, resources, ...(resizePolicy === undefined ? {} : { resizePolicy }) }
  })
}

const approval: ObjectPart = {
  keptMetadata: [],
  merge: (given, live, now) => ({ ...withMetadata(given, live), status: approvedStatus(given, live, now) }),
}

/** An object that is complete before it is written. */
const whole: ObjectPart = { merge: (given) => given, validate: () => [] }
const scale: ObjectPart = { merge: (given) => given, isWanted: true }

const parts: Readonly<Record<string, ObjectPart>> = {
  finalize,
  ephemeralcontainers: ephemeralContainers,
  resize,
  approval,
  binding: whole,
  bindings: whole,
  scale,
}

/** A kind's rules for its parts. */
interface PartStrategy {
  readonly behaviour: Pick<Behaviour, 'statusKeeps'>
  readonly rules: Pick<KindRules, 'status'>
}

/** The part of an object of this kind for a subresource. */
export function objectPartOf({ behaviour, rules }: PartStrategy, subresource: string): ObjectPart {
  if (subresource === 'status') return rules.status ?? statusKeeping(behaviour.statusKeeps)
  return parts[subresource] ?? whole
}

/** The writer's metadata, with the live values of fields that the server owns or the part keeps. */
function metadataOf(given: ApiObject, live: ApiObject, kept: readonly MetadataField[]): ObjectMeta {
  const metadata = carryOverMeta(given.metadata, live.metadata)
  for (const field of serversFields) keepLive(metadata, live.metadata, field)
  for (const field of kept) keepLive(metadata, live.metadata, field)
  return metadata
}

const serversFields = ['generation', 'selfLink', 'resourceVersion'] as const

/** Deletes a member only if the live object has none: an object from which a member was deleted becomes slow. */
function keepLive<Field extends keyof ObjectMeta>(metadata: ObjectMeta, live: ObjectMeta, field: Field): void {
  if (live[field] !== undefined) metadata[field] = live[field]
  else if (metadata[field] !== undefined) delete metadata[field]
}

/** The live object with the writer's metadata. */
export function withMetadata(given: ApiObject, live: ApiObject, kept: readonly MetadataField[] = []): ApiObject {
  return { ...live, metadata: metadataOf(given, live, kept) }
}

function withSpec(object: ApiObject, change: Record<string, unknown>): ApiObject {
  return { ...object, spec: { ...(object.spec ?? {}), ...change } }
}
