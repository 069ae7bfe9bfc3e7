import { decodeJson, printJson } from '../json/index.ts'
import type { Catalogue, StoredForm } from '../kind/resource.ts'
import type { ApiObject } from '../meta/object-meta.ts'
import { decodeStored, type EncodedObject, encodeObject, encodeStored, fingerprintOf } from './envelope.ts'

/**
 * The version of the schema with which objects of built-in kinds are stored; custom kinds have their own fingerprint. It must be increased when the stored bytes of an unchanged object
 * would change: another order of fields, another canonical form of a value, another default, another storage version.
 * A test compares the types with a golden file, and fails when this may be necessary.
 */
export const schemaFingerprint = 4

/** The fingerprint for built-in kinds at a level, since its fields and defaults affect the stored form. */
export function fingerprintAt(level: number): number {
  return schemaFingerprint * 256 + level
}

/** An object to store. */
export interface StorableObject {
  readonly stored: StoredForm
  /** The object in the storage version, with fields in schema order. */
  readonly object: ApiObject
  readonly encoded: EncodedObject
  readonly writeId: string
  readonly expiresAtMs: number
}

/** Encodes an object as a stored value, with everything that queries need. */
export function encodeStoredObject({ stored, object, encoded, writeId, expiresAtMs }: StorableObject): Uint8Array {
  const { storedFingerprint: fingerprint } = stored.readers
  const fields = stored.readers.fieldsOf(object)
  return encodeStored({ fingerprint, writeId, expiresAtMs, encoded, labels: object.metadata.labels ?? {}, fields })
}

/** An object's JSON with its hole; integers beyond 2^53 stay exact. */
export function encodeExactly(object: ApiObject, hasBigIntegers: boolean, isSorted = false): EncodedObject {
  return encodeObject(object, hasBigIntegers ? (value) => printJson(value, { hasBigIntegers }) : undefined, isSorted)
}

/** Makes the conversion. Values of unknown resources are unchanged. */
export function renewalBy(catalogue: Catalogue) {
  const current = fingerprintAt(catalogue.level)
  const resourceAt = (key: string) => catalogue.findStored(key.split('/', 2).join('/'))
  return {
    isCurrent: (key: string, value: Uint8Array) => fingerprintOf(value) === current || resourceAt(key) === undefined,
    convert(key: string, value: Uint8Array) {
      const resource = resourceAt(key)
      if (resource === undefined) return value
      const { json, writeId, expiresAtMs } = decodeStored(value)
      const { object, hasBigIntegers } = renew(catalogue, resource.stored, json)
      const encoded = encodeExactly(object, hasBigIntegers)
      return encodeStoredObject({ stored: resource.stored, object, encoded, writeId, expiresAtMs })
    },
  }
}

function renew(
  { names, isGateOn }: Catalogue,
  { readers, kind }: StoredForm,
  json: Uint8Array,
): { object: ApiObject; hasBigIntegers: boolean } {
  const text = decodeJson(json)
  if (text.kind === 'malformed') throw new Error(`a stored ${kind} is not JSON: ${text.message}`)
  const decoded = readers.decode(text.value, { trackUnknown: false })
  if (decoded.kind === 'mismatch') throw new Error(`a stored ${kind} no longer fits its type: ${decoded.message}`)
  readers.applyDefaults?.(decoded.object, names, isGateOn)
  // Defaults are added at the end; decoding again restores the order.
  const ordered = readers.decode(decoded.object, { trackUnknown: false })
  if (ordered.kind === 'mismatch') throw new Error(`the defaults of a stored ${kind} do not fit its type: ${ordered.message}`)
  return { object: readers.printable?.(ordered.object) ?? ordered.object, hasBigIntegers: text.hasBigIntegers }
}
