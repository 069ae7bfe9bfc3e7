import { type CommitRequest, objectKey } from '@orch/core/contracts'
import { type ApiObject, parseApiVersion, printTime, StatusError, toInstant } from '@orch/core/meta'
import { encodeStoredObject } from '@orch/core/stored'
import { systemClock } from '@orch/platform'
import { toStoredObject } from '../conversion/convert.ts'
import { readyReaders } from '../custom-resources/ready-readers.ts'
import type { SchemaParts } from '../custom-resources/schema-budget.ts'
import type { Draws } from '../request/draws.ts'
import type { Pace } from '../request/pace.ts'
import type { Served, ServedResources } from '../target/target.ts'
import { ownUser } from './bootstrap-objects.ts'
import { decodeCandidate } from './candidate.ts'
import { type CommitParts, encodeStored, expiryOf } from './commit.ts'

/** The dependencies of loading objects. */
export type LoadParts = CommitParts &
  SchemaParts & {
    readonly served: Pick<ServedResources, 'of'>
    readonly catalogue: { findKind(gvk: { group: string; version: string; kind: string }): Served['resource'] | undefined }
    readonly draws: Pick<Draws, 'uid' | 'writeId'>
    readonly pace: Pace
  }

/** The end of one object of a dump. */
export type LoadOutcome =
  /** Fields that the schema does not know, which are not stored. */
  | { readonly kind: 'loaded'; readonly problems: readonly string[] }
  /** Its kind is not served, or its objects are not stored. */
  | { readonly kind: 'unknown' }
  /** Another object with its name stays. */
  | { readonly kind: 'existing' }
  | { readonly kind: 'refused'; readonly reason: string }

/** An object of another server. */
export interface LoadedObject {
  readonly object: ApiObject
  /** It has integers beyond 2^53, as `bigint`. */
  readonly hasBigIntegers: boolean
}

/** Options of loading objects. */
export interface LoadSettings<T extends LoadedObject> {
  /** Leaves existing objects unchanged. */
  readonly keepsExisting: boolean
  /** Called once for each object. */
  readonly onOutcome: (given: T, outcome: LoadOutcome) => void
}

/** Objects whose commits are waited for together: a store on disk flushes them at once. */
const togetherMax = 50
/** Time for which objects are read in one turn of the event loop. Storing them takes about as long. */
const turnMs = 10

/**
 * Stores objects of another server unchanged and in order, with uid, creationTimestamp, generation, managers, owners, status and deletionTimestamp.
 * Only the schema checks their types and fields; authorization, admission and validation are skipped. Nothing is reserved, such as addresses of
 * Services.
 */
export async function loadObjects<T extends LoadedObject>(
  objects: AsyncIterable<T>,
  settings: LoadSettings<T>,
  parts: LoadParts,
): Promise<void> {
  let together: Promise<void>[] = []
  let sinceMs = systemClock.monotonic()
  for await (const given of objects) {
    const served = servedOf(given.object, parts)
    const ready = served === undefined ? undefined : readyReaders(served, parts)
    if (ready !== undefined) await ready
    // Begun in the order of the objects, commits are made in it.
    const stored = loadObject(given, served, settings, parts).then((outcome) => settings.onOutcome(given, outcome))
    // A failure is thrown where all are waited for; until then it is not one that nothing sees.
    stored.catch(() => {})
    together.push(stored)
    if (together.length < togetherMax && systemClock.monotonic() - sinceMs < turnMs) continue
    await Promise.all(together)
    together = []
    await parts.pace.turn()
    sinceMs = systemClock.monotonic()
  }
  await Promise.all(together)
}

function servedOf({ apiVersion, kind }: ApiObject, parts: LoadParts): Served | undefined {
  const { group = '', version = '' } = parseApiVersion(apiVersion) ?? {}
  const resource = parts.catalogue.findKind({ group, version, kind })
  return resource?.backing === 'stored' ? parts.served.of(resource) : undefined
}

async function loadObject(
  given: LoadedObject,
  served: Served | undefined,
  settings: Pick<LoadSettings<LoadedObject>, 'keepsExisting'>,
  parts: LoadParts,
): Promise<LoadOutcome> {
  if (served === undefined) return { kind: 'unknown' }
  const problem = problemOf(given.object, served)
  if (problem !== undefined) return { kind: 'refused', reason: problem }
  try {
    const { commit, problems } = commitOf(given, served, parts)
    return (await commitLoaded(commit, settings, parts)) ? { kind: 'loaded', problems } : { kind: 'existing' }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return { kind: 'refused', reason: error.message }
  }
}

function problemOf({ metadata }: ApiObject, { resource, isStoredVersion }: Served): string | undefined {
  const { name = '', namespace = '' } = metadata
  if (name === '') return 'it has no name'
  if (name.includes('/') || namespace.includes('/')) return 'its name or its namespace has a slash'
  if (resource.isNamespaced && namespace === '') return 'it has no namespace'
  if (!resource.isNamespaced && namespace !== '') return 'its kind has no namespaces'
  if (resource.conversion !== undefined && !isStoredVersion)
    return `the webhook of ${resource.conversion.definition} would have to convert it`
  return undefined
}

function commitOf(
  given: LoadedObject,
  served: Served,
  parts: LoadParts,
): { readonly commit: CommitRequest; readonly problems: readonly string[] } {
  const { resource } = served
  const candidate = decodeCandidate(resource, { ...given.object }, { hasBigIntegers: given.hasBigIntegers, duplicates: [] })
  const { resourceVersion: _, ...metadata } = candidate.object.metadata
  const { uid = parts.draws.uid(), creationTimestamp = printTime(toInstant(parts.clock.now())) } = metadata
  const object = { ...candidate.object, metadata: { ...metadata, uid, creationTimestamp } }
  const { stored, encoded } = encodeStored(
    { served },
    { object: toStoredObject(parts, served, object), hasBigIntegers: given.hasBigIntegers },
  )
  const writeId = parts.draws.writeId()
  const value = encodeStoredObject({ stored: resource.stored, object: stored, encoded, writeId, expiresAtMs: expiryOf({ served }, parts) })
  const key = objectKey(resource.stored.prefix, resource.isNamespaced ? metadata.namespace : undefined, metadata.name ?? '')
  return { commit: { key, expected: 0, conditions: [], value, writeId, user: ownUser.name }, problems: candidate.problems }
}

/** False: another object with the key stays. */
async function commitLoaded(
  commit: CommitRequest,
  { keepsExisting }: Pick<LoadSettings<LoadedObject>, 'keepsExisting'>,
  parts: LoadParts,
): Promise<boolean> {
  for (let expected = 0; ; ) {
    const outcome = await parts.storage.commit({ ...commit, expected })
    if (outcome.kind === 'written') {
      parts.recent.forget(commit.key)
      return true
    }
    if (keepsExisting) return false
    expected = outcome.kind === 'stale' ? (outcome.current?.revision ?? 0) : 0
  }
}
