import {
  type CommitRequest,
  contract,
  type Entry,
  type GetResponse,
  type ListPart,
  type ListRequest,
  leavesJoined,
  type Service,
  type StorageService,
  type Stream,
  scopePrefix,
  storageContract,
  stream,
  wire,
} from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { decodeStored, fillRevision, revisionBytes } from '@orch/core/stored'
import type { ObjectMarks } from './contracts.ts'

const { request, response } = storageContract.methods.list

/** Lists from storage without the objects that the caller already has. */
export const knownListsContract = contract('threads.v1.Lists', {
  list: stream(
    /** `known`: revisions of the resource's objects that the caller has, in the epoch `epoch`. */
    wire.message({ list: wire.nested(1, request), epoch: wire.string(2), known: wire.many(wire.int64(3)) }),
    /** For a part `entries`: the revisions of all its objects in order; the part contains only the objects that the caller lacks. */
    wire.message({ part: wire.union(1, response), revisions: wire.many(wire.int64(2)) }),
    { idempotent: true },
  ),
})
export type KnownListsService = Service<typeof knownListsContract>

interface PartOfKnown {
  readonly part: ListPart
  readonly revisions: readonly number[]
}

/** Lists of a storage for other threads. */
export function createKnownLists(storage: Pick<StorageService, 'list'>): KnownListsService {
  return {
    list({ list, epoch, known }, context) {
      const parts = storage.list(list, context)
      return Object.assign(withoutKnown(parts, { epoch, known: new Set(known) }), { close: () => parts.close() })
    },
  }
}

async function* withoutKnown(
  parts: Stream<ListPart>,
  { epoch, known }: { readonly epoch: string; readonly known: ReadonlySet<number> },
): AsyncGenerator<PartOfKnown> {
  let present: ReadonlySet<number> = new Set()
  for await (const part of parts) {
    if (part.kind === 'head' && part.epoch === epoch) present = known
    if (part.kind !== 'entries') {
      yield { part, revisions: [] }
      continue
    }
    for (const entries of inPieces(part.entries)) {
      const lacking = entries.filter(({ revision }) => !present.has(revision))
      yield { part: { kind: 'entries', entries: lacking }, revisions: entries.map(({ revision }) => revision) }
    }
  }
}

/** Bytes of objects that are sent and cached together. */
const pieceBytes = 128 * 1024

function* inPieces(entries: readonly Entry[]): Generator<readonly Entry[]> {
  let start = 0
  let bytes = 0
  for (const [index, { value }] of entries.entries()) {
    bytes += value.length
    if (bytes < pieceBytes) continue
    yield entries.slice(start, index + 1)
    start = index + 1
    bytes = 0
  }
  if (start < entries.length) yield entries.slice(start)
}

/** Bytes of lists that a thread caches. */
const listBytesMax = 16 * 1024 * 1024
/** Maximum number of cached pages whose objects one request may name. */
const pagesKnownMax = 4
/** Number of remembered lists that were too long for the cache. */
const longListsMax = 1_000

/**
 * Storage in another thread, which sends an object of a list again only after it has changed. If a list exceeds the cache, the remaining objects are
 * sent each time. A list of joined bytes is then requested whole, because the other thread can join it.
 */
export function withKnownLists(storage: StorageService, lists: KnownListsService, bytesMax: number = listBytesMax): StorageService {
  const known = new KnownParts(bytesMax)
  const long = new Set<string>()
  return {
    ...storage,
    list(request, context) {
      const name = JSON.stringify([request.scope, request.selection, request.limit])
      if (isSelecting(request) || (request.layout === 'joined' && long.has(name))) return storage.list(request, context)
      const prefix = scopePrefix(request.scope)
      // These objects are held until the list is read, even if the cache drops them meanwhile.
      const sent = known.objectsOf(request.scope.resource, { prefix, start: prefix + request.start })
      if (request.limit > 0 && sent.size > request.limit * pagesKnownMax) return storage.list(request, context)
      const { epoch } = known
      const onLong = () => {
        if (long.size >= longListsMax) long.clear()
        long.add(name)
      }
      const parts = lists.list({ list: { ...request, layout: 'entries' }, epoch, known: [...sent.keys()] }, context)
      return Object.assign(completed(parts, request, { sent, epoch, known, bytesMax, onLong }), {
        close: () => parts.close(),
      })
    },
  }
}

/** A list with a selection is requested whole: few objects match, so sending them costs less than naming all cached objects. */
function isSelecting({ scope, selection }: ListRequest): boolean {
  const { labels, fields, shards } = selection
  return scope.name !== undefined || labels.length > 0 || fields.length > 0 || shards !== undefined
}

interface Completion {
  /** The cached objects that the request names, and their epoch. */
  readonly sent: ReadonlyMap<number, Entry>
  readonly epoch: string
  readonly known: KnownParts
  readonly bytesMax: number
  /** Called if the list has more bytes than the cache. */
  readonly onLong: () => void
}

/** The parts of a list with all their objects, in the requested layout. */
async function* completed(
  parts: ReturnType<KnownListsService['list']>,
  request: ListRequest,
  { sent, epoch, known, bytesMax, onLong }: Completion,
): AsyncGenerator<ListPart> {
  let present: ReadonlyMap<number, Entry> = new Map()
  let isKept = false
  let bytes = 0
  for await (const { part, revisions } of parts) {
    if (part.kind === 'head') {
      if (part.epoch === epoch) present = sent
      known.begin(part.epoch)
      isKept = true
    }
    if (part.kind !== 'entries') {
      yield part
      continue
    }
    const lacking = part.entries[Symbol.iterator]()
    const entries = revisions.map((revision) => {
      const found = present.get(revision) ?? lacking.next().value
      if (found?.revision !== revision) throw new Error(`a list of another thread lacks the object of revision ${revision}`)
      bytes += found.value.length
      return found
    })
    if (isKept && bytes > bytesMax) {
      isKept = false
      onLong()
    }
    if (!isKept || entries.length === 0) {
      yield { kind: 'entries', entries }
      continue
    }
    const kept = known.partOf(request.scope.resource, entries)
    if (leavesJoined(request, kept.entries)) yield { kind: 'chunk', bytes: kept.joined, count: kept.entries.length }
    else yield { kind: 'entries', entries: [...kept.entries] }
  }
}

/** Consecutive objects of a list, and their bytes separated by commas. */
interface KnownPart {
  readonly entries: readonly Entry[]
  readonly joined: Buffer
}

interface Kept extends KnownPart {
  readonly resource: string
  readonly name: string
}

/**
 * Parts of lists that a thread has read, within a bound of bytes; the least recently used part is dropped first. A revision identifies one state of
 * one object, so objects and parts are found by revisions.
 */
class KnownParts {
  readonly #bytesMax: number
  readonly #parts = new Map<string, Kept>()
  /** Parts by the storage prefix of their resource. */
  readonly #objects = new Map<string, Map<number, { readonly entry: Entry; readonly part: Kept }>>()
  #bytes = 0
  #epoch = ''

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** The epoch of the revisions. */
  get epoch(): string {
    return this.#epoch
  }

  /** Drops everything if the epoch has changed, because revisions of another epoch identify other objects. */
  begin(epoch: string): void {
    if (epoch === this.#epoch) return
    this.#parts.clear()
    this.#objects.clear()
    this.#bytes = 0
    this.#epoch = epoch
  }

  /** The cached objects of a resource with this key prefix, from the start on, by revision. */
  objectsOf(resource: string, { prefix, start }: { readonly prefix: string; readonly start: string }): ReadonlyMap<number, Entry> {
    const found = new Map<number, Entry>()
    for (const [revision, { entry }] of this.#objects.get(resource) ?? []) {
      if (entry.key.startsWith(prefix) && entry.key >= start) found.set(revision, entry)
    }
    return found
  }

  /** The part with exactly these objects; created if it is not cached. */
  partOf(resource: string, entries: readonly Entry[]): KnownPart {
    const name = `${resource} ${entries.map(({ revision }) => revision).join()}`
    const kept = this.#parts.get(name)
    if (kept !== undefined) {
      this.#parts.delete(name)
      this.#parts.set(name, kept)
      return kept
    }
    const part: Kept = { ...joined(entries), resource, name }
    this.#parts.set(name, part)
    this.#bytes += part.joined.length
    const ofResource = this.#objects.get(resource) ?? new Map()
    this.#objects.set(resource, ofResource)
    for (const entry of part.entries) ofResource.set(entry.revision, { entry, part })
    for (const oldest of this.#parts.values()) {
      if (this.#bytes <= this.#bytesMax) break
      this.#forget(oldest)
    }
    return part
  }

  #forget(part: Kept): void {
    this.#parts.delete(part.name)
    this.#bytes -= part.joined.length
    const ofResource = this.#objects.get(part.resource)
    for (const { revision } of part.entries) if (ofResource?.get(revision)?.part === part) ofResource.delete(revision)
    if (ofResource?.size === 0) this.#objects.delete(part.resource)
  }
}

const comma = Buffer.from(',')

/** The objects with one buffer for all their bytes. */
function joined(entries: readonly Entry[]): KnownPart {
  const joined = Buffer.concat(entries.flatMap(({ value }, index) => (index === 0 ? [value] : [comma, value])))
  let at = 0
  const own = entries.map((entry) => {
    const value = joined.subarray(at, at + entry.value.length)
    at += entry.value.length + comma.length
    return { ...entry, value }
  })
  return { entries: own, joined }
}

/** The bytes that a thread caches of objects that it has read singly. */
const knownBytesMax = 8 * 1024 * 1024

interface Known {
  readonly mark: number
  readonly answer: GetResponse
  readonly bytes: number
}

/** Storage in another thread. A read of an object that has not changed since its last read, or that this thread changed last, sends no request. */
export function withKnownObjects(storage: StorageService, marks: ObjectMarks, bytesMax: number = knownBytesMax): StorageService {
  const known = new Map<string, Known>()
  let bytes = 0
  const forget = (key: string) => {
    bytes -= known.get(key)?.bytes ?? 0
    known.delete(key)
  }
  const keep = (mark: number, entry: Entry, answer: GetResponse) => {
    const { key } = entry
    forget(key)
    known.set(key, { mark, answer: { ...answer, entry }, bytes: entry.value.length + key.length })
    bytes += entry.value.length + key.length
    for (const first of known.keys()) {
      if (bytes <= bytesMax) break
      forget(first)
    }
  }
  return {
    ...storage,
    async get(request, context) {
      const { key, read } = request
      if (read.kind !== 'latest' && read.kind !== 'any') return await storage.get(request, context)
      // Reads the mark before the request: a change in between changes the mark.
      const mark = marks.of(key)
      const found = known.get(key)
      if (found?.mark === mark) return found.answer
      const answer = await storage.get(request, context)
      // An absent object has no mark until it exists.
      const { entry } = answer
      // A separate copy: the bytes are part of a message with others.
      if (entry !== undefined && answer.isStale !== true) keep(mark, { ...entry, value: Buffer.from(entry.value) }, answer)
      else forget(key)
      return answer
    },
    async commit(request, context) {
      const { key, value } = request
      const mark = marks.of(key)
      const before = known.get(key)
      const outcome = await storage.commit(request, context)
      if (outcome.kind !== 'written' || value === undefined || before?.mark !== mark) return outcome
      // The commit itself has incremented the mark: without a further increment the object is the committed object.
      const ownMark = marks.after(mark)
      const { revision } = outcome
      if (marks.of(key) === ownMark) keep(ownMark, entryOf({ key, value }, revision), { ...before.answer, revision })
      return outcome
    },
  }
}

/** Storage's answer about a committed object. */
function entryOf({ key, value }: Pick<CommitRequest, 'key'> & { readonly value: Uint8Array }, revision: Revision): Entry {
  const { json, hole, metadataStart, metadataEnd, writeId, fingerprint } = decodeStored(value)
  return {
    key,
    revision,
    value: fillRevision(json, hole, revision),
    metadataStart,
    metadataEnd: metadataEnd + revisionBytes(revision),
    writeId,
    fingerprint,
  }
}
