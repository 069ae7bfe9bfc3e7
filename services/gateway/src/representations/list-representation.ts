import { setImmediate } from 'node:timers/promises'
import { type ByteFields, cborListFrame } from '@orch/core/cbor'
import type { Entry, ListPart } from '@orch/core/contracts'
import { printPartialMetadata, printPartialMetadataFront, rowObjectOf } from '@orch/core/events'
import type { ListMeta } from '@orch/core/meta'
import { printProtobufListFrame } from '@orch/core/protobuf'
import { type IncludeObject, printTableFront, type TablePrinter, type TableRow, type TableVersion, tableRowPieces } from '@orch/core/table'
import { toServedBytes } from '../conversion/convert.ts'
import { limits } from '../limits.ts'
import type { Format, GatewayRequest } from '../request/index.ts'
import type { Served } from '../target/target.ts'
import { printCborItem } from '../texts/print-cbor.ts'
import { ChunkWriter } from './chunk-writer.ts'
import { type ItemRepresentation, itemPieces, metadataItems, objectItems } from './protobuf-items.ts'
import type { Representations } from './representation-cache.ts'
import { byteFieldsIn, includeObjectOf, metaVersionOf, notOfThisKind, type RespondStoredParts } from './respond-stored.ts'
import { rowOf, servedMetadataOf } from './stored-representations.ts'

/** The writer of a list. */
export interface ListRepresentation {
  readonly format: Format
  /** The requested form of storage. */
  readonly storageLayout: 'joined' | 'entries'
  /** The bytes of the whole list, in pieces. */
  pieces(listed: Listed): AsyncGenerator<Uint8Array>
}

/** A list as storage gives it. */
interface Listed {
  readonly metadata: ListMeta
  readonly objects: AsyncIterable<ListPart>
  /** Cached forms of its epoch, if allowed. */
  readonly representations?: Representations
}

/** The accepted form and format of a list. */
export function listRepresentationOf(request: GatewayRequest, served: Served, parts: RespondStoredParts): ListRepresentation {
  const { format, representation } = request.answer
  switch (representation.kind) {
    case 'object':
      if (format === 'cbor') return cborObjects(served, parts, request.texts)
      return format === 'protobuf' ? protobufObjects(served, parts) : objects(served, parts, format)
    case 'table':
      return table(served, parts, { format, version: representation.version, include: includeObjectOf(request.query) })
    case 'metadata':
      if (!representation.isList) throw notOfThisKind('PartialObjectMetadata', 'is a list', served.resource)
      if (format === 'cbor') return cborMetadata(served, parts, { version: representation.version, texts: request.texts })
      return format === 'protobuf'
        ? protobufMetadata(served, parts, representation.version)
        : metadata(served, parts, { format, version: representation.version })
  }
}

/** Stored objects, joined if the version is the stored one. Objects of an older schema are converted first. */
function objects(served: Served, parts: RespondStoredParts, format: Format): ListRepresentation {
  const print: Print = (entry, into) => into.bytes(toServedBytes(parts, served, entry))
  return {
    format,
    storageLayout: served.isStoredVersion ? 'joined' : 'entries',
    pieces: (listed) => textPieces(`${served.listOpening}${printListMetaRest(listed.metadata)},"items":[`, listed, print),
  }
}

/** The text after the opening of the metadata: `12","continue":"…","remainingItemCount":3}`. */
function printListMetaRest({ resourceVersion, continue: next, remainingItemCount, shardInfo }: ListMeta): string {
  const continueText = next === undefined ? '' : `,"continue":${JSON.stringify(next)}`
  const remaining = remainingItemCount === undefined ? '' : `,"remainingItemCount":${remainingItemCount}`
  const shards = shardInfo === undefined ? '' : `,"shardInfo":${JSON.stringify(shardInfo)}`
  return `${resourceVersion}"${continueText}${remaining}${shards}}`
}

interface TableOptions {
  readonly format: Format
  readonly version: TableVersion
  readonly include: IncludeObject
}

function table(served: Served, parts: RespondStoredParts, { format, version, include }: TableOptions): ListRepresentation {
  const { names, clock } = parts
  const printer = served.resource.readers.table
  const nowMs = clock.now()
  const print: Print = (entry, into, representations) => {
    const shown = rowObjectOf(
      include,
      () => toServedBytes(parts, served, entry),
      () => servedMetadataOf(parts, served, entry),
    )
    const row = rowOf(parts, served, entry, representations)
    const { front, object, back } = tableRowPieces(names, row, { version, nowMs, object: shown })
    into.text(front)
    into.bytes(object)
    into.text(back)
  }
  return {
    format,
    storageLayout: 'entries',
    pieces(listed) {
      const front = printTableFront(names, { version, metadata: listed.metadata, printer })
      return textPieces(front, printer.order === undefined ? listed : inRowOrder(listed, served, parts, printer.order), print)
    },
  }
}

/** The objects of a list in a special order; kinds with one have few objects. */
function inRowOrder(listed: Listed, served: Served, parts: RespondStoredParts, order: NonNullable<TablePrinter['order']>): Listed {
  async function* objects(): AsyncGenerator<ListPart> {
    const found: { readonly entry: Entry; readonly cells: TableRow['cells'] }[] = []
    for await (const part of listed.objects) {
      if (part.kind !== 'entries') yield part
      else for (const entry of part.entries) found.push({ entry, cells: rowOf(parts, served, entry, listed.representations).cells })
    }
    yield { kind: 'entries', entries: found.sort((left, right) => order(left.cells, right.cells)).map(({ entry }) => entry) }
  }
  return { ...listed, objects: objects() }
}

function metadata(
  served: Served,
  parts: RespondStoredParts,
  { format, version }: { format: Format; version: TableVersion },
): ListRepresentation {
  const front = Buffer.from(printPartialMetadataFront(parts.names, version))
  const print: Print = (entry, into) => {
    into.bytes(front)
    into.bytes(servedMetadataOf(parts, served, entry))
    into.bytes(closingBrace)
  }
  const typeMeta = `"kind":"PartialObjectMetadataList","apiVersion":"${metaVersionOf(parts, version)}"`
  return {
    format,
    storageLayout: 'entries',
    pieces: (listed) => textPieces(`{${typeMeta},"metadata":${JSON.stringify(listed.metadata)},"items":[`, listed, print),
  }
}

/** Writes one object of a list. */
type Print = (entry: Entry, into: ChunkWriter, representations: Representations | undefined) => void

/** Opening, items with commas between them, closing. */
async function* textPieces(opening: string, { objects, representations }: Listed, print: Print): AsyncGenerator<Uint8Array> {
  const writer = new ChunkWriter()
  writer.text(opening)
  let isFirst = true
  for await (const part of objects) {
    if (part.kind === 'chunk' && part.bytes.length > 0) {
      yield* writer.takeAll()
      if (!isFirst) yield comma
      isFirst = false
      yield part.bytes
    }
    if (part.kind !== 'entries') continue
    for (const entry of part.entries) {
      if (!isFirst) writer.bytes(comma)
      isFirst = false
      print(entry, writer, representations)
    }
    yield* writer.take()
    // Other work runs between two parts of a list whose objects are parsed.
    await setImmediate()
  }
  writer.bytes(closing)
  yield* writer.takeAll()
}

/** After the last item of a list, and after the last row of a Table. */
const closing = Buffer.from(']}\n')
const comma = Buffer.from(',')
const closingBrace = Buffer.from('}')

function protobufObjects(served: Served, parts: RespondStoredParts): ListRepresentation {
  const { apiVersion, listKind } = served.resource
  return protobufRepresentation({ apiVersion, kind: listKind }, objectItems(parts, served))
}

function protobufMetadata(served: Served, parts: RespondStoredParts, version: TableVersion): ListRepresentation {
  const typeMeta = { apiVersion: metaVersionOf(parts, version), kind: 'PartialObjectMetadataList' }
  return protobufRepresentation(typeMeta, metadataItems(parts, served))
}

function cborObjects(served: Served, parts: RespondStoredParts, texts: Texts): ListRepresentation {
  const { apiVersion, listKind: kind } = served.resource
  return cborRepresentation(
    { kind, apiVersion },
    { texts, fields: byteFieldsIn(served), jsonOf: (entry) => toServedBytes(parts, served, entry) },
  )
}

function cborMetadata(
  served: Served,
  parts: RespondStoredParts,
  { version, texts }: { version: TableVersion; texts: Texts },
): ListRepresentation {
  const typeMeta = { kind: 'PartialObjectMetadataList', apiVersion: metaVersionOf(parts, version) }
  const jsonOf = (entry: Entry) => printPartialMetadata(parts.names, version, servedMetadataOf(parts, served, entry))
  return cborRepresentation(typeMeta, { texts, fields: undefined, jsonOf })
}

type Texts = GatewayRequest['texts']

interface CborItems {
  readonly texts: Texts
  readonly fields: ByteFields | undefined
  readonly jsonOf: (entry: Entry) => Uint8Array
}

/** The number of items is indefinite, so that each is sent when it is encoded. */
function cborRepresentation(
  typeMeta: { readonly kind: string; readonly apiVersion: string },
  { texts, fields, jsonOf }: CborItems,
): ListRepresentation {
  return {
    format: 'cbor',
    storageLayout: 'entries',
    async *pieces({ metadata: listMeta, objects }) {
      const { front, back } = cborListFrame({ ...typeMeta, metadata: listMeta })
      yield front
      let madeBytes = 0
      for await (const part of objects) {
        for (const entry of part.kind === 'entries' ? part.entries : []) {
          const json = jsonOf(entry)
          yield await printCborItem(texts, json, fields)
          madeBytes += json.length
          if (madeBytes < limits.cborBytesAtOnce) continue
          madeBytes = 0
          await setImmediate()
        }
      }
      yield back
    },
  }
}

/** The envelope begins with the length of all items, so they are encoded before the first byte is sent. */
function protobufRepresentation(
  typeMeta: { readonly apiVersion: string; readonly kind: string },
  representation: ItemRepresentation,
): ListRepresentation {
  return {
    format: 'protobuf',
    storageLayout: 'entries',
    async *pieces({ metadata: listMeta, objects, representations }) {
      const pieces: Uint8Array[] = []
      let itemsBytes = 0
      for await (const part of objects) {
        if (part.kind !== 'entries') continue
        for (const { bytes, wasReady } of itemPieces(part.entries, representation, representations)) {
          pieces.push(bytes)
          itemsBytes += bytes.length
          if (!wasReady || pieces.length % limits.readyPiecesPerTurn === 0) await setImmediate()
        }
      }
      const { front, back } = printProtobufListFrame({ ...typeMeta, metadata: listMeta, itemsBytes })
      yield front
      yield* pieces
      yield back
    },
  }
}
