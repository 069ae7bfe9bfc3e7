import { isJsonObject } from '../json/member.ts'
import { canonicalText } from './canonical.ts'

type Json = Readonly<Record<string, unknown>>

/** The subresources of a kind that affect its writes. */
export interface StatusOptions {
  readonly hasStatus: boolean
}

/** The stored form of a new object: generation 1, and no status if there is a status subresource. */
export function prepareCreate(object: Json, { hasStatus }: StatusOptions): Json {
  return withGeneration(hasStatus ? without(object, 'status') : object, 1)
}

/**
 * The stored form of a replaced object. With a status subresource, the status is kept. The generation grows with every change
 * outside of metadata, and outside of the status if there is a status subresource.
 */
export function prepareUpdate(object: Json, old: Json, { hasStatus }: StatusOptions): Json {
  const kept = hasStatus ? withMember(object, 'status', old['status']) : object
  const isChanged = canonicalText(without(kept, 'metadata')) !== canonicalText(without(old, 'metadata'))
  const generation = Number(metadataOf(old)['generation'] ?? 0)
  return isChanged ? withGeneration(kept, generation + 1) : withGeneration(kept, generation)
}

/** An object after a write of its status: only the status and the managedFields change. */
export function prepareStatusUpdate(object: Json, old: Json): Json {
  const written = withMember(old, 'status', object['status'])
  const { metadata } = object
  if (!isJsonObject(metadata) || !isJsonObject(old['metadata'])) return written
  return { ...written, metadata: withMember(old['metadata'], 'managedFields', metadata['managedFields']) }
}

function metadataOf({ metadata }: Json): Json {
  return isJsonObject(metadata) ? metadata : {}
}

function withGeneration(object: Json, generation: number): Json {
  if (generation === 0) return object
  return { ...object, metadata: { ...metadataOf(object), generation } }
}

function withMember(object: Json, name: string, value: unknown): Json {
  return value === undefined ? without(object, name) : { ...object, [name]: value }
}

function without(object: Json, name: string): Json {
  if (!Object.hasOwn(object, name)) return object
  const { [name]: _left, ...rest } = object
  return rest
}
