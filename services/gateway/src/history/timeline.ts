import type { Catalogue, Resource } from '@orch/core/catalogue'
import {
  type CallContext,
  historyChangesMax,
  objectKey,
  type PastChange,
  type StorageService,
  scopePrefix,
  type TimelineEntry,
} from '@orch/core/contracts'
import { changedPaths } from '@orch/core/json'
import { type ApiObject, badRequest } from '@orch/core/meta'
import type { Pace } from '../request/pace.ts'

/** The changes that a timeline shows. */
export interface TimelineQuery {
  /** Undefined for all resources. */
  readonly resource?: Resource | undefined
  /** Undefined for all namespaces. */
  readonly namespace?: string | undefined
  /** Undefined for all objects; otherwise resource and, for a namespaced kind, namespace are needed. */
  readonly name?: string | undefined
  /** Only changes after this revision. */
  readonly after?: number | undefined
  /** Only changes before this revision. */
  readonly before?: number | undefined
  readonly limit: number
}

/** A change as it was stored. */
export interface TimelineChange {
  readonly entry: TimelineEntry
  readonly served: Resource
  /** JSON of the stored version; undefined if the object was created, or could not be read. */
  readonly before?: Uint8Array | undefined
  readonly after?: Uint8Array | undefined
}

/** A page of a timeline. */
export interface Timeline {
  /** Newest first. */
  readonly changes: readonly TimelineChange[]
  /** The revision of the store. */
  readonly revision: number
  /** Changes up to this revision are compacted. */
  readonly oldest: number
  /** The value of `before` for older changes; undefined without any. */
  readonly next?: number | undefined
}

/** The dependencies of timelines. */
export interface TimelineParts {
  readonly storage: Pick<StorageService, 'history'>
  readonly catalogue: Pick<Catalogue, 'findStored'>
  readonly pace: Pace
}

/** Maximum number of paths in an entry. */
const changedPathsMax = 100

/** Members that every write changes. */
const unshown: ReadonlySet<string> = new Set(['metadata.managedFields', 'metadata.resourceVersion', 'metadata.generation'])

/** Maximum bytes of objects compared in one turn of the event loop. */
const comparedBytesPerTurn = 128 * 1024

/** Reads a page of a timeline: changes of stored objects, including those before a restore. */
export async function readTimeline(query: TimelineQuery, parts: TimelineParts, context?: CallContext): Promise<Timeline> {
  const { limit, after = 0, before } = query
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > historyChangesMax)
    throw badRequest(`limit: must be a whole number from 1 to ${historyChangesMax}`)
  const answer = await parts.storage.history({ ...keysOf(query), after, before, limit }, context)
  const changes: TimelineChange[] = []
  let bytes = 0
  for (const change of answer.changes) {
    if (query.namespace !== undefined && query.resource === undefined && namespaceIn(change.key) !== query.namespace) continue
    const found = toTimelineChange(change, parts)
    if (found !== undefined) changes.push(found)
    bytes += (change.before?.length ?? 0) + (change.after?.length ?? 0)
    if (bytes < comparedBytesPerTurn) continue
    bytes = 0
    await parts.pace.turn()
  }
  return { changes, revision: answer.revision, oldest: answer.compacted, next: answer.next }
}

function keysOf({ resource, namespace, name }: TimelineQuery): { readonly prefix: string; readonly isKey?: boolean } {
  if (resource === undefined) {
    if (name !== undefined) throw badRequest('name: needs a resource, such as resource=deployments.apps')
    return { prefix: '' }
  }
  const { isNamespaced, stored, plural } = resource
  if (!isNamespaced && namespace !== undefined) throw badRequest(`namespace: ${plural} are in no namespace`)
  if (name === undefined) return { prefix: scopePrefix({ resource: stored.prefix, ...(namespace === undefined ? {} : { namespace }) }) }
  if (isNamespaced && namespace === undefined) throw badRequest(`name: needs a namespace, since ${plural} are in namespaces`)
  return { prefix: objectKey(stored.prefix, namespace, name), isKey: true }
}

/** Undefined for a key of the server itself, or of an unserved resource. */
function toTimelineChange(
  { key, revision, timeMs, request, user, before, after }: PastChange,
  { catalogue }: TimelineParts,
): TimelineChange | undefined {
  const served = catalogue.findStored(key.split('/', 2).join('/'))
  if (served === undefined) return undefined
  const [old, present] = [objectIn(before), objectIn(after)]
  const { apiVersion, kind } = served.stored
  const namespace = namespaceIn(key)
  const entry: TimelineEntry = {
    revision,
    ...(timeMs === undefined ? {} : { time: new Date(timeMs).toISOString() }),
    event: present === undefined ? 'deleted' : old === undefined ? 'created' : 'modified',
    apiVersion,
    kind,
    resource: served.plural,
    ...(namespace === '' ? {} : { namespace }),
    name: key.slice(key.lastIndexOf('/') + 1),
    uid: (present ?? old)?.metadata.uid ?? '',
    managers: managersOf(old, present),
    ...(user === undefined ? {} : { user }),
    ...(request === undefined || request === '' ? {} : { request }),
    changed: old === undefined || present === undefined ? [] : changedPaths(old, present, { except: unshown, max: changedPathsMax }),
  }
  return { entry, served, before, after }
}

/** `core/pods/default/a` is in `default`; `core/nodes/a` in ''. */
function namespaceIn(key: string): string {
  const [, , third = '', fourth] = key.split('/', 4)
  return fourth === undefined ? '' : third
}

function objectIn(bytes: Uint8Array | undefined): ApiObject | undefined {
  return bytes === undefined ? undefined : JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString())
}

/**
 * The managers whose entries a change has added, or given another time. Another writer may have removed fields from an entry, which then keeps its time.
 * Times are whole seconds: if they are not conclusive, the managers with changed fields made it, or otherwise those with the newest time.
 */
function managersOf(before: ApiObject | undefined, after: ApiObject | undefined): string[] {
  const entries = after?.metadata.managedFields ?? []
  const idOf = ({ manager, operation, subresource, apiVersion }: (typeof entries)[number]) =>
    JSON.stringify([manager, operation, subresource, apiVersion])
  const old = new Map((before?.metadata.managedFields ?? []).map((entry) => [idOf(entry), entry]))
  const written = entries.filter((entry) => old.get(idOf(entry))?.time !== entry.time)
  const changed = entries.filter((entry) => JSON.stringify(old.get(idOf(entry))) !== JSON.stringify(entry))
  const newest = entries
    .map(({ time = '' }) => time)
    .sort()
    .at(-1)
  const made = [written, changed, entries.filter(({ time }) => time === newest)].find(({ length }) => length > 0) ?? []
  return [...new Set(made.map(({ manager }) => manager ?? ''))]
}
