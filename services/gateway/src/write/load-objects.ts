import { type CommitOutcome, type CommitRequest, type FailedCommit, objectKey } from '@orch/core/contracts'
import { at } from '@orch/core/json'
import { type ApiObject, parseApiVersion, printTime, StatusError, toInstant } from '@orch/core/meta'
import { encodeStoredObject } from '@orch/core/stored'
import { systemClock } from '@orch/platform'
import { toStoredObject } from '../conversion/convert.ts'
import { readyReaders } from '../custom-resources/ready-readers.ts'
import type { SchemaParts } from '../custom-resources/schema-budget.ts'
import type { Draws, Pace } from '../request/index.ts'
import type { Served, ServedResources } from '../target/target.ts'
import { ownUser } from './bootstrap-objects.ts'
import { decodeCandidate } from './candidate.ts'
import { type CommitParts, encodeStored, expiryOf } from './commit.ts'
import { type DefaultsParts, inOrder, setDefaults } from './prepare.ts'

/** The dependencies of loading objects. */
export type LoadParts = CommitParts &
  DefaultsParts &
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

/** An object of another server, and what its outcome is reported for. */
export interface PlacedObject<Place> extends LoadedObject {
  readonly place: Place
}

/** Options of loading objects. */
export interface LoadSettings<Place> {
  /** Leaves existing objects unchanged. */
  readonly keepsExisting: boolean
  /** Called once for each object. */
  readonly onOutcome: (place: Place, outcome: LoadOutcome) => void
  /** Commits in order, and answers all together. A commit that would be rejected alone has the outcome `failed`. */
  readonly commitAll: (commits: readonly CommitRequest[]) => Promise<(CommitOutcome | FailedCommit)[]>
}

/** Objects that are committed together. */
const togetherMax = 100
/** Time for which objects are read in one turn of the event loop. Storing them takes about as long. */
const turnMs = 10

/** An object before its commit, as bytes alone: the garbage collector would copy the trees of all objects that wait. */
interface ReadyObject<Place> {
  readonly place: Place
  readonly commit: CommitRequest
  readonly problems: readonly string[]
}

/**
 * Stores objects of another server in order, with uid, creationTimestamp, generation, managers, owners, status and deletionTimestamp, and with the
 * defaults that kube-apiserver sets when it reads its store. Only the schema checks their types and fields; authorization, admission and validation
 * are skipped. Nothing is reserved, such as addresses of Services.
 */
export async function loadObjects<Place>(
  objects: AsyncIterable<PlacedObject<Place>>,
  settings: LoadSettings<Place>,
  parts: LoadParts,
): Promise<void> {
  let together: ReadyObject<Place>[] = []
  let sinceMs = systemClock.monotonic()
  for await (const given of objects) {
    const served = servedOf(given.object, parts)
    const ready = served === undefined ? undefined : readyReaders(served, parts)
    if (ready !== undefined) await ready
    const read = readObject(given, served, parts)
    if (read.kind === 'ready') together.push({ place: given.place, ...read })
    else settings.onOutcome(given.place, read)
    if (together.length < togetherMax && systemClock.monotonic() - sinceMs < turnMs) continue
    await storeAll(together, settings, parts)
    together = []
    await parts.pace.turn()
    sinceMs = systemClock.monotonic()
  }
  await storeAll(together, settings, parts)
}

function servedOf({ apiVersion, kind }: ApiObject, parts: LoadParts): Served | undefined {
  const { group = '', version = '' } = parseApiVersion(apiVersion) ?? {}
  const resource = parts.catalogue.findKind({ group, version, kind })
  return resource?.backing === 'stored' ? parts.served.of(resource) : undefined
}

function readObject(
  given: LoadedObject,
  served: Served | undefined,
  parts: LoadParts,
): LoadOutcome | ({ readonly kind: 'ready' } & Omit<ReadyObject<unknown>, 'place'>) {
  if (served === undefined) return { kind: 'unknown' }
  const problem = problemOf(given.object, served)
  if (problem !== undefined) return { kind: 'refused', reason: problem }
  try {
    return { kind: 'ready', ...commitOf(given, served, parts) }
  } catch (error) {
    return refusalOf(error)
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

function commitOf(given: LoadedObject, served: Served, parts: LoadParts): Omit<ReadyObject<unknown>, 'place'> {
  const { resource } = served
  const candidate = decodeCandidate(resource, { ...given.object }, { hasBigIntegers: given.hasBigIntegers, duplicates: [] })
  const { resourceVersion: _, ...metadata } = candidate.object.metadata
  const { uid = parts.draws.uid(), creationTimestamp = printTime(toInstant(parts.clock.now())) } = metadata
  // kube-apiserver shows generation 1 for a stored custom object without a generation.
  const first = resource.readers.isUntyped ? { generation: 1 } : {}
  const draft = { ...candidate.object, metadata: { ...first, ...metadata, uid, creationTimestamp } }
  setDefaults(served, draft, parts)
  served.strategy.rules.fillStored?.(draft)
  const object = toStoredObject(parts, served, inOrder(resource, draft, { sharesAll: true }))
  const { stored, encoded } = encodeStored({ served }, { object, hasBigIntegers: given.hasBigIntegers })
  const writeId = parts.draws.writeId()
  const value = encodeStoredObject({ stored: resource.stored, object: stored, encoded, writeId, expiresAtMs: expiryOf({ served }, parts) })
  const key = objectKey(resource.stored.prefix, resource.isNamespaced ? metadata.namespace : undefined, metadata.name ?? '')
  return { commit: { key, expected: 0, conditions: [], value, writeId, user: ownUser.name }, problems: candidate.problems }
}

/** Stores objects in their order, and existing ones again if they are replaced. */
async function storeAll<Place>(
  objects: readonly ReadyObject<Place>[],
  { keepsExisting, onOutcome, commitAll }: LoadSettings<Place>,
  { recent }: Pick<LoadParts, 'recent'>,
): Promise<void> {
  for (let left = objects; left.length > 0; ) {
    const again: ReadyObject<Place>[] = []
    const outcomes = await commitAll(left.map(({ commit }) => commit))
    for (const [index, outcome] of outcomes.entries()) {
      const { place, commit, problems } = at(left, index)
      if (outcome.kind === 'failed') onOutcome(place, refusalOf(outcome.error))
      else if (outcome.kind === 'written') {
        recent.forget(commit.key)
        onOutcome(place, { kind: 'loaded', problems })
      } else if (keepsExisting) onOutcome(place, { kind: 'existing' })
      else {
        const expected = outcome.kind === 'stale' ? (outcome.current?.revision ?? 0) : 0
        again.push({ place, commit: { ...commit, expected }, problems })
      }
    }
    left = again
  }
}

function refusalOf(error: unknown): LoadOutcome {
  if (!(error instanceof StatusError)) throw error
  return { kind: 'refused', reason: error.message }
}
