import { templateGenerationAnnotation } from '../catalogue/defaults/workloads.ts'
import type { Entry, WatchFormat } from '../contracts/index.ts'
import { decodeJson, hasLongNumber, isJsonObject, memberSpan, printJson, type Span } from '../json/index.ts'
import type { ApiObject, ObjectMeta, Status } from '../meta/index.ts'
import { domainGroup, type Names, namesOf } from '../names.ts'
import { type ProtobufEventType, printJsonProtobuf, printProtobuf, printProtobufEvent, printStatusProtobuf } from '../protobuf/index.ts'
import type { IncludeObject } from '../table/include-object.ts'
import { printTable, printTableRow, type RowObject, type TableVersion } from '../table/print.ts'
import { type TablePrinter, tablePrinterOf } from '../table/printer.ts'

/** The object of an event: stored JSON in the requested version. */
export interface EventContent {
  readonly stored: Uint8Array
  readonly served: Uint8Array
  /** The position of the metadata in `served`; searched for if undefined. */
  readonly metadata?: Span | undefined
}

/**
 * A watch event in a format, ready to be sent. Ages in a Table are relative to `nowMs`. Without a table, rows contain names and
 * creation times.
 */
export function printEvent(
  format: WatchFormat,
  type: ProtobufEventType,
  content: EventContent,
  nowMs: number,
  table?: TablePrinter,
): Uint8Array {
  switch (format.kind) {
    case 'json':
      return printJsonEvent(type, content.served)
    case 'protobuf':
      return printProtobufEvent(type, printJsonProtobuf({ ...format, kind: format.objectKind, json: content.served }))
    case 'table':
      return printJsonEvent(type, printTableOf(format, content, nowMs, table ?? tablePrinterOf()))
    case 'metadata':
      return printMetadataEvent(format, type, content)
  }
}

/** The event that ends a watch with an error, which is a Status in every format. */
export function printErrorEvent(format: WatchFormat, status: Status): Uint8Array {
  if (!isProtobufFormat(format)) return printJsonEvent('ERROR', encoder.encode(JSON.stringify(status)))
  return printProtobufEvent('ERROR', printStatusProtobuf(status))
}

/** True if events are written in Protobuf. */
export function isProtobufFormat(format: WatchFormat): boolean {
  return format.kind === 'protobuf' || (format.kind === 'metadata' && format.isProtobuf)
}

/** The same events, with column definitions in the Table of the first one. */
export function withColumns(frames: Uint8Array, columnsJson: string): Uint8Array {
  const at = indexOfText(frames, noColumns)
  if (at < 0) return frames
  return join([frames.subarray(0, at), encoder.encode(`"columnDefinitions":${columnsJson}`), frames.subarray(at + noColumns.length)])
}

/** The JSON text of a stored object's metadata; `known` is its position. */
export function metadataOf(object: Uint8Array, known?: Span): Uint8Array {
  const span = known ?? memberSpan(object, 0, 'metadata')
  if (span === undefined) throw new Error('a stored object has no metadata')
  const metadata = object.subarray(span.start, span.end)
  return startsWith(object, daemonSetFront) ? withoutTemplateGeneration(metadata) : metadata
}

function startsWith(bytes: Uint8Array, front: Uint8Array): boolean {
  for (let index = 0; index < front.length; index++) if (bytes[index] !== front[index]) return false
  return true
}

/** Removes the annotation that kube-apiserver adds to a DaemonSet only if it prints the whole object. */
function withoutTemplateGeneration(metadata: Uint8Array): Uint8Array {
  const read = readOurJson(metadata) as ObjectMeta
  const { [templateGenerationAnnotation]: _count, ...others } = read.annotations ?? {}
  // An undefined member is not printed, and the order of the other members stays.
  const annotations = Object.keys(others).length === 0 ? undefined : others
  return encoder.encode(printJson({ ...read, annotations }, { hasBigIntegers: true }))
}

/** A PartialObjectMetadata with the metadata text of an object. */
export function printPartialMetadata(names: Names, version: TableVersion, metadata: Uint8Array): Uint8Array {
  return join([encoder.encode(printPartialMetadataFront(names, version)), metadata, closeBrace])
}

/** The text before the metadata in a PartialObjectMetadata, which ends with a closing brace. */
export function printPartialMetadataFront(names: Names, version: TableVersion): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"${domainGroup(names, 'meta')}/${version}","metadata":`
}

/** The Protobuf type of a PartialObjectMetadata. */
export const partialMetadataType = 'meta/v1.PartialObjectMetadata'

/** Parses JSON written by this server. Only a long run of digits, which is rare, needs the exact parser. */
export function readOurJson(bytes: Uint8Array): unknown {
  return parseOurs(decoder.decode(bytes))
}

function parseOurs(text: string): unknown {
  if (!hasLongNumber(text)) return JSON.parse(text)
  const decoded = decodeJson(text)
  if (decoded.kind === 'malformed') throw new Error(`a stored object is not JSON: ${decoded.message}`)
  return decoded.value
}

/** Like `readOurJson`, for a whole object. */
export function readOurObject(bytes: Uint8Array): ApiObject {
  return whole(readOurJson(bytes))
}

function whole(object: unknown): ApiObject {
  if (!isWhole(object)) throw new Error('a stored object has no kind, no version or no metadata')
  return object
}

/**
 * Like `readOurObject`, for a built-in kind and a reader that does not need `metadata.managedFields`. These are half of a small object, and
 * are skipped if that is easy. They are the last member of the metadata, and their first bytes cannot occur within a string, because its quotes are
 * escaped.
 */
export function readWithoutOwners({ value, metadataEnd }: Pick<Entry, 'value' | 'metadataEnd'>): ApiObject {
  const text = decoder.decode(value)
  const start = text.indexOf(ownersFront)
  // If every character is one byte, the metadata ends at the same offset in the text as in the bytes.
  if (start < 0 || start > metadataEnd || text.length !== value.length) return readOurObject(value)
  return whole(parseOurs(text.slice(0, start) + text.slice(metadataEnd - 1)))
}

const ownersFront = ',"managedFields":['

function isWhole(value: unknown): value is ApiObject {
  return (
    isJsonObject(value) && typeof value['kind'] === 'string' && typeof value['apiVersion'] === 'string' && isJsonObject(value['metadata'])
  )
}

function printTableOf(
  { profile, version, include }: Extract<WatchFormat, { kind: 'table' }>,
  { stored, served }: EventContent,
  nowMs: number,
  table: TablePrinter,
): Uint8Array {
  const names = namesOf(profile)
  const object = readOurJson(stored) as { metadata?: { resourceVersion?: string } }
  const row = table.read(object as Record<string, unknown>, names)
  const { resourceVersion = '' } = object.metadata ?? {}
  const printed = printTableRow(names, row, { version, nowMs, object: rowObjectOf(include, () => served) })
  return printTable(names, { version, metadata: { resourceVersion }, printer: undefined }, [printed])
}

/** The object of a row in the requested version. */
export function rowObjectOf(include: IncludeObject, served: () => Uint8Array, metadata = () => metadataOf(served())): RowObject {
  if (include === 'None') return { kind: 'none' }
  return include === 'Object' ? { kind: 'object', json: served() } : { kind: 'metadata', metadata: metadata() }
}

function printMetadataEvent(
  { profile, version, isProtobuf }: Extract<WatchFormat, { kind: 'metadata' }>,
  type: ProtobufEventType,
  { served, metadata: span }: EventContent,
): Uint8Array {
  const names = namesOf(profile)
  const metadata = metadataOf(served, span)
  if (!isProtobuf) {
    const front = encoder.encode(`{"type":"${type}","object":${printPartialMetadataFront(names, version)}`)
    return join([front, metadata, metadataEventEnd])
  }
  const apiVersion = `${domainGroup(names, 'meta')}/${version}`
  const object = { metadata: readOurJson(metadata) }
  return printProtobufEvent(type, printProtobuf({ apiVersion, kind: 'PartialObjectMetadata', type: partialMetadataType, object }))
}

function printJsonEvent(type: ProtobufEventType, object: Uint8Array): Uint8Array {
  return join([encoder.encode(`{"type":"${type}","object":`), object, jsonEventEnd])
}

const encoder = new TextEncoder()
const daemonSetFront = encoder.encode('{"kind":"DaemonSet","apiVersion":"apps/v1",')
const decoder = new TextDecoder()
const jsonEventEnd = encoder.encode('}\n')
const metadataEventEnd = encoder.encode('}}\n')
const closeBrace = encoder.encode('}')
/** In an event, no text from a user precedes this text. */
const noColumns = encoder.encode('"columnDefinitions":null')

function indexOfText(bytes: Uint8Array, text: Uint8Array): number {
  for (let at = bytes.indexOf(text[0]!); at >= 0; at = bytes.indexOf(text[0]!, at + 1)) {
    if (text.every((byte, index) => bytes[at + index] === byte)) return at
  }
  return -1
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}
