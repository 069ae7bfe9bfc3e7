import type { Entry } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { assemble, clearRevision, decodeStored, fillRevisionInto, revisionBytes } from '@orch/core/stored'
import type { FactSet, Interner } from './facts.ts'
import type { Slabs } from './slabs.ts'

/** One object in memory: its JSON as it is served, and what queries need to know of it. */
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
  /** Where the JSON lies now; it moves when a leaf joins its items. */
  bytes: Uint8Array
  start: number
}

/** Where objects share what can be shared. */
export interface Room {
  readonly interner: Interner
  readonly slabs: Slabs
}

/** The object of a stored value at a revision. The stored bytes are copied. */
export function toStoredObject(key: string, revision: Revision, stored: Uint8Array, { interner, slabs }: Room): StoredObject {
  const view = decodeStored(stored)
  const inserted = revisionBytes(revision)
  const length = view.json.length + inserted
  const start = slabs.reserve(length)
  const { bytes } = slabs
  fillRevisionInto(bytes, start, { json: view.json, hole: view.hole, revision })
  return {
    key,
    revision,
    writeId: view.writeId,
    fingerprint: view.fingerprint,
    expiresAtMs: view.expiresAtMs,
    hole: view.hole,
    metadataStart: view.metadataStart,
    metadataEnd: view.metadataEnd + inserted,
    length,
    labels: interner.intern(view.labelsText),
    fields: interner.intern(view.fieldsText),
    bytes,
    start,
  }
}

/** The object's JSON, as a view. */
export function jsonOf(object: StoredObject): Uint8Array {
  return object.bytes.subarray(object.start, object.start + object.length)
}

/** Moves the object out of a joined leaf, so that what is only history does not keep a whole leaf's bytes alive. */
export function detach(object: StoredObject, slabs: Slabs): void {
  const start = slabs.reserve(object.length)
  slabs.bytes.set(jsonOf(object), start)
  object.bytes = slabs.bytes
  object.start = start
}

/** What the contract says of an object. */
export function toEntry(object: StoredObject): Entry {
  const { key, revision, metadataStart, metadataEnd, writeId, fingerprint } = object
  return { key, revision, value: jsonOf(object), metadataStart, metadataEnd, writeId, fingerprint }
}

/** The value as it would be stored by another write. */
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
