import type { Change, Entry, Facts, StoreChange, StoreRecord, ValueFront } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import {
  assemble,
  clearRevision,
  decodeStored,
  decodeStoredFront,
  fillRevisionInto,
  jsonStartOf,
  revisionBytes,
  type StoredView,
  traceparentOf,
  uidInMetadata,
} from '@orch/core/stored'
import { limits } from '../limits.ts'

/** One object in memory: its served JSON, and its facts for queries. */
export interface StoredObject {
  readonly key: string
  readonly revision: Revision
  readonly writeId: string
  readonly fingerprint: number
  readonly expiresAtMs: number
  readonly hole: number
  readonly metadataStart: number
  readonly metadataEnd: number
  readonly length: number
  readonly labels: FactSet
  readonly fields: FactSet
  /** Returns the stored value of an object whose JSON has not been read yet. */
  recall: Recall | undefined
  /** The JSON's present place, if it has been read; the place changes when a leaf joins its items. */
  bytes: Uint8Array
  start: number
}

/** Returns the stored value of a key at its revision; its bytes are valid until the next call. */
export type Recall = (key: string, revision: Revision) => Uint8Array

/** The storage that objects share. */
export interface Room {
  readonly interner: Interner
  readonly slabs: Slabs
}

/** Creates the object of a stored value at a revision; copies the stored bytes. */
export function toStoredObject({ key, revision, value }: StoreRecord, { interner, slabs }: Room): StoredObject {
  const view = decodeStored(value)
  const { json, hole } = view
  const start = slabs.reserve(json.length + revisionBytes(revision))
  const { bytes } = slabs
  fillRevisionInto(bytes, start, { json, hole, revision })
  return objectOf({ key, revision, recall: undefined, bytes, start }, view, json.length, interner)
}

/** The object of a stored value with a known front, which is read on demand; undefined if the front is not sufficient. */
export function toUnreadObject(
  { key, revision, front }: Pick<StoreRecord, 'key' | 'revision'> & { readonly front: ValueFront },
  { interner }: Room,
  recall: Recall,
): StoredObject | undefined {
  const view = decodeStoredFront(front)
  if (view === undefined) return undefined
  return objectOf({ key, revision, recall, bytes: unread, start: 0 }, view, front.length - jsonStartOf(front.bytes), interner)
}

function objectOf(
  { key, revision, recall, bytes, start }: Pick<StoredObject, 'key' | 'revision' | 'recall' | 'bytes' | 'start'>,
  view: StoredView,
  jsonBytes: number,
  interner: Interner,
): StoredObject {
  const inserted = revisionBytes(revision)
  return {
    key,
    revision,
    writeId: view.writeId,
    fingerprint: view.fingerprint,
    expiresAtMs: view.expiresAtMs,
    hole: view.hole,
    metadataStart: view.metadataStart,
    metadataEnd: view.metadataEnd + inserted,
    length: jsonBytes + inserted,
    labels: interner.intern(view.labelsText),
    fields: interner.intern(view.fieldsText),
    recall,
    bytes,
    start,
  }
}

const unread: Uint8Array = new Uint8Array()

/** True if the object's JSON is in memory. */
export function isRead({ recall }: StoredObject): boolean {
  return recall === undefined
}

/** Reads the object's JSON into memory if needed. */
export function read(object: StoredObject): void {
  const { key, revision, recall, length } = object
  if (recall === undefined) return
  const bytes = Buffer.allocUnsafeSlow(length)
  fillRevisionInto(bytes, 0, { ...decodeStored(recall(key, revision)), revision })
  object.bytes = bytes
  object.recall = undefined
}

/** The object's JSON, as a view. */
export function jsonOf(object: StoredObject): Uint8Array {
  read(object)
  return object.bytes.subarray(object.start, object.start + object.length)
}

/** The object's uid, in any order of the metadata; '' for none. The bytes are searched without parsing the object. */
export function uidOf(object: StoredObject): string {
  const { metadataStart, metadataEnd, hole } = object
  const { buffer, byteOffset, length } = jsonOf(object)
  const json = Buffer.from(buffer, byteOffset, length)
  const before = /"uid":"([^"\\]*)"$/.exec(json.toString('latin1', Math.max(metadataStart, hole - uidRoomBytes), hole))
  if (before !== null) return before[1] ?? ''
  const behind = /^,"resourceVersion":"\d+",(?:"selfLink":"[^"\\]*",)?"uid":"([^"\\]*)"/.exec(json.toString('latin1', hole, metadataEnd))
  if (behind !== null) return behind[1] ?? ''
  return uidInMetadata(json.subarray(metadataStart, metadataEnd))
}

/** Enough for a uid of 36 characters and its member name. */
const uidRoomBytes = 100

/**
 * Moves the object out of a joined leaf, so that a past object does not keep the bytes of a whole leaf in memory. An unread object is read now,
 * because a replaced object can no longer be read.
 */
export function detach(object: StoredObject, slabs: Slabs): void {
  if (!isRead(object)) {
    read(object)
    return
  }
  const start = slabs.reserve(object.length)
  slabs.bytes.set(jsonOf(object), start)
  object.bytes = slabs.bytes
  object.start = start
}

/** Converts an object to the contract's entry. */
export function toEntry(object: StoredObject): Entry {
  const { key, revision, metadataStart, metadataEnd, writeId, fingerprint } = object
  if (isRead(object)) return { key, revision, value: jsonOf(object), metadataStart, metadataEnd, writeId, fingerprint }
  return {
    key,
    revision,
    // A caller that uses only the revision causes no read.
    get value() {
      return jsonOf(object)
    },
    metadataStart,
    metadataEnd,
    writeId,
    fingerprint,
  }
}

/** Creates the contract's form of a change from the new and the replaced object; a new change gets the current time. */
export function toChange(
  { revision, previous, key, writeId }: StoreChange,
  after: StoredObject | undefined,
  before: StoredObject | undefined,
  committedMs?: number,
): Change {
  const traceparent = committedMs === undefined ? undefined : traceparentOf(writeId)
  return {
    revision,
    previous,
    key,
    ...(after === undefined ? {} : { after: newContentOf(after) }),
    ...(before === undefined ? {} : { before: oldContentOf(before) }),
    ...(committedMs === undefined ? {} : { committedMs }),
    ...(traceparent === undefined ? {} : { traceparent }),
  }
}

function newContentOf(object: StoredObject): NonNullable<Change['after']> {
  const { metadataStart, metadataEnd, fingerprint } = object
  return { value: jsonOf(object), metadataStart, metadataEnd, facts: new StoredFacts(object), fingerprint }
}

function oldContentOf(object: StoredObject): NonNullable<Change['before']> {
  const { revision, fingerprint } = object
  return { revision, facts: new StoredFacts(object), value: jsonOf(object), fingerprint }
}

/** The facts of an object in a change. Only selectors read them, so they are parsed at their first use. */
class StoredFacts implements Facts {
  readonly #object: StoredObject

  constructor(object: StoredObject) {
    this.#object = object
  }

  get labels(): Facts['labels'] {
    return this.#object.labels.map
  }

  get fields(): Facts['fields'] {
    return this.#object.fields.map
  }
}

/** The bytes that another write would store. */
export function toStored(object: StoredObject, writeId: string): Uint8Array {
  return assemble({
    fingerprint: object.fingerprint,
    writeId,
    expiresAtMs: object.expiresAtMs,
    labelsText: object.labels.text,
    fieldsText: object.fields.text,
    metadataStart: object.metadataStart,
    metadataEnd: object.metadataEnd - revisionBytes(object.revision),
    hole: object.hole,
    json: clearRevision(jsonOf(object), object.hole, object.revision),
  })
}

/** A set of labels or selectable fields that many objects share: one instance for each distinct set. */
export class FactSet {
  readonly text: string
  #map: Readonly<Record<string, string>> | undefined

  constructor(text: string) {
    this.text = text
  }

  /** The facts by name, parsed at first use. The object has no prototype, because users choose the names. */
  get map(): Readonly<Record<string, string>> {
    this.#map ??= this.text === '{}' ? none : parse(this.text)
    return this.#map
  }
}

const none: Readonly<Record<string, string>> = Object.freeze(Object.create(null))

function parse(text: string): Readonly<Record<string, string>> {
  const map: Record<string, string> = Object.create(null)
  const parsed: Readonly<Record<string, string>> = JSON.parse(text)
  for (const [name, value] of Object.entries(parsed)) map[name] = value
  return Object.freeze(map)
}

const noFacts = new FactSet('{}')

const sweepAtLeast = 1_024

/** Returns the shared FactSet of a text; removes sets that are no longer referenced. */
export class Interner {
  readonly #sets = new Map<string, WeakRef<FactSet>>()
  #sweepAt = sweepAtLeast

  /** The known texts. */
  get size(): number {
    return this.#sets.size
  }

  intern(text: string): FactSet {
    // Most objects have no selectable fields.
    if (text === noFacts.text) return noFacts
    const known = this.#sets.get(text)?.deref()
    if (known !== undefined) return known
    if (this.#sets.size >= this.#sweepAt) this.#sweep()
    const set = new FactSet(text)
    this.#sets.set(text, new WeakRef(set))
    return set
  }

  #sweep(): void {
    for (const [text, set] of this.#sets) if (set.deref() === undefined) this.#sets.delete(text)
    this.#sweepAt = Math.max(sweepAtLeast, this.#sets.size * 2)
  }
}

/**
 * Allocates the bytes of many objects in shared buffers: a separate buffer for each would cost more than the copy. A slab lives as long as any object
 * in it; `State` periodically moves the objects of old slabs into joined leaves.
 */
export class Slabs {
  /** The memory of the last `reserve`. */
  bytes: Uint8Array = Buffer.allocUnsafeSlow(limits.firstSlabBytes)
  #used = 0
  /** The first slabs are small, because a server with few writes, such as a test's fork, and its own forks need little memory. */
  #nextBytes = limits.firstSlabBytes
  /** Bytes reserved since `allocated` was last set to 0. */
  allocated = 0

  /** Reserves space in `bytes` and returns its start. */
  reserve(length: number): number {
    this.allocated += length
    if (length > this.bytes.length - this.#used) {
      this.#nextBytes = Math.min(this.#nextBytes * 2, limits.slabBytes)
      this.bytes = Buffer.allocUnsafeSlow(Math.max(length, this.#nextBytes))
      this.#used = 0
    }
    const start = this.#used
    this.#used += length
    return start
  }
}
