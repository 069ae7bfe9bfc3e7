import { boundedMemo, memo } from '@orch/cel/memo'
import { hasMembers, isJsonObject, printJson } from '../json/index.ts'
import { printRevision, type Revision } from '../meta/revision.ts'

/**
 * A stored value: a short header, then the object's JSON in UTF-8, in the storage version and without
 * `metadata.resourceVersion`. All numbers are little endian.
 *
 *   0  u8   format            16 u32 metadataStart     36  write id, labels, fields: text
 *   1  u8   transformer       20 u32 metadataEnd           the object's JSON
 *   2  u8   write id's bytes  24 u32 hole
 *   4  u32  fingerprint       28 u32 labels' bytes
 *   8  f64  expiresAtMs       32 u32 fields' bytes
 *
 * Offsets count from the first byte of the JSON. The hole is the position for `,"resourceVersion":"7"`.
 */
const storedFormat = 1
const headerBytes = 36
const writeIdBytesMax = 255

/** An object's JSON, with the positions that serving needs. */
export interface EncodedObject {
  readonly json: Uint8Array
  /** The start and the end of the value of `metadata`, including its braces. */
  readonly metadataStart: number
  readonly metadataEnd: number
  /** The position for inserting the resourceVersion. */
  readonly hole: number
}

/** The contents of a stored value. */
export interface StoredParts {
  /** The fingerprint of the schema that encoded the object: an unsigned 32-bit number. */
  readonly fingerprint: number
  /** The random id of the write; its text is at most 255 bytes long. */
  readonly writeId: string
  /** The time at which the object expires, in milliseconds since 1970; 0 for never. */
  readonly expiresAtMs: number
  readonly encoded: EncodedObject
  readonly labels: Readonly<Record<string, string>>
  /** Selectable fields, except `metadata.name` and `metadata.namespace`, which are in the key. */
  readonly fields: Readonly<Record<string, string>>
}

/** The header of a stored value, read without parsing the object. */
export interface StoredView extends EncodedObject {
  readonly fingerprint: number
  readonly writeId: string
  readonly expiresAtMs: number
  /** The JSON text of the labels, sorted by key, so that equal labels have equal texts. */
  readonly labelsText: string
  /** The JSON text of the selectable fields, sorted by key. */
  readonly fieldsText: string
}

/** Members of `metadata` before `resourceVersion`. */
const beforeRevision: ReadonlySet<string> = new Set(['name', 'generateName', 'namespace', 'selfLink', 'uid'])

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Prints a member's value, with or without support for bigint. */
export type PrintJson = (value: unknown) => string

/**
 * The JSON of an object whose members are in schema order. `metadata.resourceVersion` is omitted, and the hole
 * is after name, generateName, namespace and uid; in metadata sorted by name, it is at its sorted position.
 */
export function encodeObject(object: Readonly<Record<string, unknown>>, print: PrintJson = printPlainly, isSorted = false): EncodedObject {
  let front = '{'
  let back = ''
  let metadata: Readonly<Record<string, unknown>> | undefined
  for (const name in object) {
    const value = object[name]
    if (name === 'metadata' && hasMembers(value)) metadata = value
    else if (value === undefined) continue
    else if (metadata === undefined) front += `${printName(name)}${print(value)},`
    else back += `,${printName(name)}${print(value)}`
  }
  if (metadata === undefined) throw new TypeError('an object to be stored needs metadata')
  const { before, after } = printMetadata(metadata, print, isSorted)
  return measure(`${front}"metadata":`, before, after, `${back}}`)
}

/** The text of metadata before and after the hole. */
function printMetadata(metadata: Readonly<Record<string, unknown>>, print: PrintJson, isSorted: boolean) {
  let before = ''
  let after = ''
  for (const name in metadata) {
    const value = metadata[name]
    if (value === undefined || name === 'resourceVersion') continue
    if (isSorted ? name > 'resourceVersion' : !beforeRevision.has(name)) after += `,${printName(name)}${print(value)}`
    else before += `${before === '' ? '{' : ','}${printName(name)}${print(value)}`
  }
  if (before === '') throw new TypeError('an object to be stored needs metadata.name')
  return { before, after: `${after}}` }
}

/** Maximum number of cached names: those of types, and top-level ones of definitions. */
const namesMax = 1_000

/** A member's name in JSON, with the colon. */
const printName = boundedMemo(namesMax, (name: string): string => `${JSON.stringify(name)}:`)

function printPlainly(value: unknown): string {
  return isListOfOwners(value) ? printOwners(value) : printJson(value)
}

interface OwnerEntry {
  readonly fieldsV1: object
  readonly [member: string]: unknown
}

function isListOfOwners(value: unknown): value is readonly OwnerEntry[] {
  return Array.isArray(value) && value.length > 0 && value.every((entry) => isJsonObject(entry) && isJsonObject(entry['fieldsV1']))
}

function printOwners(entries: readonly OwnerEntry[]): string {
  let text = ''
  for (const entry of entries) text += `${text === '' ? '[' : ','}${printOwner(entry)}`
  return `${text}]`
}

function printOwner(entry: OwnerEntry): string {
  let text = ''
  for (const name in entry) {
    const value = entry[name]
    if (value === undefined) continue
    text += `${text === '' ? '{' : ','}${printName(name)}${value === entry.fieldsV1 ? printFields(entry.fieldsV1) : printJson(value)}`
  }
  return `${text}}`
}

/** The printed fieldsV1 of managedFields, cached because it is immutable and half of most objects. Most writes keep it, and similar new objects share it. */
const printFields = memo((fields: object): string => printJson(fields))

function measure(front: string, metadataFront: string, metadataBack: string, back: string): EncodedObject {
  const text = front + metadataFront + metadataBack + back
  const json = encoder.encode(text)
  const size = sizeIn(json, text)
  const metadataStart = size(front)
  const hole = metadataStart + size(metadataFront)
  return { json, metadataStart, hole, metadataEnd: hole + size(metadataBack) }
}

/** Returns a function that measures parts of the text in bytes. In a text of one-byte characters the length is the size. */
function sizeIn(bytes: Uint8Array, text: string): (part: string) => number {
  return bytes.length === text.length ? (part) => part.length : (part) => encoder.encode(part).length
}

/** The JSON text of a map of texts, sorted by key, so that equal maps have equal texts. */
function printFacts(facts: Readonly<Record<string, string>>): string {
  const names = Object.keys(facts)
  // Decoded labels are already sorted.
  if (names.every((name, index) => index === 0 || names[index - 1]! < name)) return JSON.stringify(facts)
  let text = ''
  for (const name of names.sort()) text += `${text === '' ? '{' : ','}${JSON.stringify(name)}:${JSON.stringify(facts[name])}`
  return `${text}}`
}

/** Encodes an object as a stored value. */
export function encodeStored({ fingerprint, writeId, expiresAtMs, encoded, labels, fields }: StoredParts): Uint8Array {
  return assemble({ ...encoded, fingerprint, writeId, expiresAtMs, labelsText: printFacts(labels), fieldsText: printFacts(fields) })
}

/** Encodes the stored value of a view. */
export function assemble(view: StoredView): Uint8Array {
  const text = view.writeId + view.labelsText + view.fieldsText
  const texts = encodeBriefly(text)
  const size = sizeIn(texts, text)
  const [idBytes, labelsBytes] = [size(view.writeId), size(view.labelsText)]
  if (idBytes > writeIdBytesMax) throw new RangeError(`a write id may have ${writeIdBytesMax} bytes, not ${idBytes}`)
  const textEnd = headerBytes + texts.length
  const bytes = new Uint8Array(textEnd + view.json.length)
  const header = new DataView(bytes.buffer)
  bytes[0] = storedFormat
  bytes[2] = idBytes
  header.setUint32(4, view.fingerprint, true)
  header.setFloat64(8, view.expiresAtMs, true)
  header.setUint32(16, view.metadataStart, true)
  header.setUint32(20, view.metadataEnd, true)
  header.setUint32(24, view.hole, true)
  header.setUint32(28, labelsBytes, true)
  header.setUint32(32, texts.length - idBytes - labelsBytes, true)
  bytes.set(texts, headerBytes)
  bytes.set(view.json, textEnd)
  return bytes
}

const scratch = new Uint8Array(6 * 1024)

/** The UTF-8 of a text, valid until the next call; a short text uses a shared buffer. */
function encodeBriefly(text: string): Uint8Array {
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 > scratch.length) return encoder.encode(text)
  return scratch.subarray(0, encoder.encodeInto(text, scratch).written)
}

/** Reads a stored value's header. `json` is a view of the given bytes. Throws for other bytes. */
export function decodeStored(bytes: Uint8Array): StoredView {
  return decodeBegun(bytes, bytes.length)
}

/**
 * Like `decodeStored`, for the first bytes of a value; `json` is the available part. Undefined if the bytes do not contain the whole
 * header.
 */
export function decodeStoredFront({ bytes, length }: { readonly bytes: Uint8Array; readonly length: number }): StoredView | undefined {
  return bytes.length >= headerBytes && jsonStartOf(bytes) <= bytes.length ? decodeBegun(bytes, length) : undefined
}

/** The start of the JSON in a stored value. */
export function jsonStartOf(front: Uint8Array): number {
  const header = new DataView(front.buffer, front.byteOffset, headerBytes)
  return headerBytes + front[2]! + header.getUint32(28, true) + header.getUint32(32, true)
}

/** Replaces a stored value that turned out to be altered: its format is invalid. */
export const alteredValue: Uint8Array = Uint8Array.of(255)

/** True if the value replaces an altered one. */
export function isAltered(stored: Uint8Array): boolean {
  return stored.length === alteredValue.length && stored[0] === alteredValue[0]
}

/** A value was stored encrypted but was not decrypted. */
export class TransformedValueError extends Error {}

/** Throws for bytes that are no stored value. */
export function checkStored(bytes: Uint8Array): void {
  locate(bytes, bytes.length)
}

/** Reads the header of a value whose bytes reach at least to the start of the JSON. */
function decodeBegun(bytes: Uint8Array, length: number): StoredView {
  const { header, idEnd, labelsEnd, fieldsEnd } = locate(bytes, length)
  return {
    fingerprint: header.getUint32(4, true),
    writeId: decoder.decode(bytes.subarray(headerBytes, idEnd)),
    expiresAtMs: header.getFloat64(8, true),
    metadataStart: header.getUint32(16, true),
    metadataEnd: header.getUint32(20, true),
    hole: header.getUint32(24, true),
    labelsText: decodeText(bytes, idEnd, labelsEnd),
    fieldsText: decodeText(bytes, labelsEnd, fieldsEnd),
    json: bytes.subarray(fieldsEnd),
  }
}

/** The header of a value, and the ends of its texts. Throws for other bytes. */
function locate(bytes: Uint8Array, length: number) {
  if (length < headerBytes && !isAltered(bytes)) throw new Error(`a stored value has at least ${headerBytes} bytes, this one ${length}`)
  if (isAltered(bytes)) throw new Error('its bytes were changed: the checksum does not match')
  if (bytes[0] !== storedFormat)
    throw new Error(`a stored value of format ${bytes[0]} can't be read; this version knows format ${storedFormat}`)
  if (bytes[1] !== 0) throw new TransformedValueError(`a stored value of transformer ${bytes[1]} can't be read; this version knows none`)
  const header = new DataView(bytes.buffer, bytes.byteOffset, headerBytes)
  const idEnd = headerBytes + bytes[2]!
  const labelsEnd = idEnd + header.getUint32(28, true)
  const fieldsEnd = labelsEnd + header.getUint32(32, true)
  if (fieldsEnd > length) throw new Error('a stored value is shorter than its header says')
  const [metadataStart, metadataEnd, hole] = [header.getUint32(16, true), header.getUint32(20, true), header.getUint32(24, true)]
  if (metadataStart >= hole || hole > metadataEnd || metadataEnd > length - fieldsEnd) {
    throw new Error('a stored value has offsets outside of its object')
  }
  return { header, idEnd, labelsEnd, fieldsEnd }
}

/** The fingerprint of a stored value. */
export function fingerprintOf(bytes: Uint8Array): number {
  if (bytes.length < headerBytes) return decodeStored(bytes).fingerprint
  return new DataView(bytes.buffer, bytes.byteOffset, headerBytes).getUint32(4, true)
}

const emptyFacts = 0x7d7b

/** Decodes a text. An empty text is common for labels and fields, and is not decoded. */
function decodeText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start === 2 && (bytes[start]! | (bytes[start + 1]! << 8)) === emptyFacts) return '{}'
  return decoder.decode(bytes.subarray(start, end))
}

const revisionFront = encoder.encode(',"resourceVersion":"')
const quote = 0x22

/** The number of bytes that the revision adds to an object. */
export function revisionBytes(revision: Revision): number {
  return revisionFront.length + printRevision(revision).length + 1
}

/** Writes the object with its revision to `target` at `offset`, where there must be enough space. */
export function fillRevisionInto(target: Uint8Array, offset: number, { json, hole, revision }: Filling): void {
  const digits = printRevision(revision)
  let at = offset + hole
  target.set(json, offset)
  // Moving the rest within the buffer avoids views of the two parts.
  target.copyWithin(at + revisionFront.length + digits.length + 1, at, offset + json.length)
  target.set(revisionFront, at)
  at += revisionFront.length
  for (let index = 0; index < digits.length; index++) target[at++] = digits.charCodeAt(index)
  target[at] = quote
}

/** An object's JSON with its hole, and the revision to insert. */
export interface Filling {
  readonly json: Uint8Array
  readonly hole: number
  readonly revision: Revision
}

/** The served JSON of an object, with `"resourceVersion"` inserted. */
export function fillRevision(json: Uint8Array, hole: number, revision: Revision): Uint8Array {
  const filled = new Uint8Array(json.length + revisionBytes(revision))
  fillRevisionInto(filled, 0, { json, hole, revision })
  return filled
}

/** Like `fillRevision`, with any text that a client has sent. */
export function fillVersionText(json: Uint8Array, hole: number, text: string): Uint8Array {
  const member = encoder.encode(`,"resourceVersion":${JSON.stringify(text)}`)
  const filled = new Uint8Array(json.length + member.length)
  filled.set(json.subarray(0, hole))
  filled.set(member, hole)
  filled.set(json.subarray(hole), hole + member.length)
  return filled
}

/** Removes the revision from served JSON: the inverse of `fillRevision`. */
export function clearRevision(filled: Uint8Array, hole: number, revision: Revision): Uint8Array {
  const inserted = revisionBytes(revision)
  const json = new Uint8Array(filled.length - inserted)
  json.set(filled.subarray(0, hole))
  json.set(filled.subarray(hole + inserted), hole)
  return json
}

/** The served form of a stored value or encoded object at a revision. */
export function serve({ json, hole, metadataStart, metadataEnd }: EncodedObject, revision: Revision) {
  return { value: fillRevision(json, hole, revision), metadataStart, metadataEnd: metadataEnd + revisionBytes(revision) }
}
