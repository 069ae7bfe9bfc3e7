import type { ProtobufReaders } from '@orch/core/catalogue'
import { metadataOf, partialMetadataType, readOurJson, readOurObject } from '@orch/core/events'
import { encodeProtobufItem } from '@orch/core/protobuf'
import type { TableRow } from '@orch/core/table'
import type { StoredContent } from '../conversion/convert.ts'
import { type ConversionParts, isCurrent, readBytesOfOursInSteps, toServedBytes, toServedObject } from '../conversion/convert.ts'
import type { Pace } from '../request/pace.ts'
import type { Served } from '../target/target.ts'
import type { Representations } from './representation-cache.ts'

/** The dependencies of other representations of stored objects. */
export type RepresentationParts = ConversionParts & {
  readonly pace: Pace
}

/** The name of cached Protobuf items of whole objects. */
export function protobufRepresentationOf({ resource }: Served): string {
  return `protobuf ${resource.apiVersion}`
}

/** The Protobuf writer of a resource's objects, if they have such a form. */
export function protobufOf({ resource }: Served): ProtobufReaders {
  const { protobuf } = resource.readers
  if (protobuf === undefined) throw new Error(`${resource.plural} were negotiated in Protobuf`)
  return protobuf
}

/** The object as an item of a Protobuf list, in the version of the request. */
export function protobufItemOf(
  parts: RepresentationParts,
  served: Served,
  content: StoredContent,
  representations?: Representations,
): Uint8Array {
  const protobuf = protobufOf(served)
  const make = () =>
    isCurrent(served, content)
      ? protobuf.encodeStoredItem(content.value)
      : protobuf.encodeItem(toServedObject(parts, served, readOurObject(content.value), content))
  return kept(representations, content, { representation: protobufRepresentationOf(served), make, bytesOf: (item) => item.length })
}

/** Like `protobufItemOf`, for a large object: decoded and encoded in different turns of the event loop. */
export async function largeProtobufItemOf(
  parts: RepresentationParts,
  served: Served,
  content: StoredContent,
  representations?: Representations,
): Promise<Uint8Array> {
  const { key, revision } = content
  const known =
    key === undefined || revision === undefined
      ? undefined
      : representations?.find<Uint8Array>(protobufRepresentationOf(served), { key, revision })
  if (known !== undefined) return known
  const { object } = await parts.pace.run(readBytesOfOursInSteps(content.value))
  await parts.pace.turn()
  const make = () => protobufOf(served).encodeItem(toServedObject(parts, served, object, content))
  return kept(representations, content, { representation: protobufRepresentationOf(served), make, bytesOf: (item) => item.length })
}

/** The object's metadata as an item of a Protobuf list. */
export function metadataItemOf(parts: RepresentationParts, served: Served, content: StoredContent): Uint8Array {
  return encodeProtobufItem(partialMetadataType, { metadata: readOurJson(servedMetadataOf(parts, served, content)) })
}

/** The object's row, read from the version that its table reads. */
export function rowOf(parts: RepresentationParts, served: Served, content: StoredContent, representations?: Representations): TableRow {
  const { resource } = served
  if (resource.readers.tableReads === 'served') return servedRowOf(parts, served, content)
  const make = () => resource.readers.table.read(readOurObject(withoutOwners(content)), parts.names)
  return kept(representations, content, { representation: 'row', make, bytesOf: rowBytes })
}

/** A row of the version of the request. */
function servedRowOf(parts: RepresentationParts, served: Served, content: StoredContent): TableRow {
  const object = toServedObject(parts, served, readOurObject(withoutOwners(content)), content)
  return served.resource.readers.table.read(object, parts.names)
}

/**
 * The object without `managedFields`, which are often longer than the rest and appear in no cell. They are omitted only if they are the last part of
 * the metadata (the usual order) and the position of the metadata is known.
 */
export function withoutOwners({ value, metadataStart, metadataEnd }: StoredContent): Uint8Array {
  if (metadataStart === undefined || metadataEnd === undefined) return value
  const metadata = asBuffer(value.subarray(metadataStart, metadataEnd))
  const start = metadata.indexOf(managedFieldsFront)
  if (start < 0 || metadata.indexOf(listOfObjectsBack, -listOfObjectsBack.length) < 0) return value
  if (metadata.indexOf(ownerReferencesFront, start) >= 0) return value
  return Buffer.concat([value.subarray(0, metadataStart + start), value.subarray(metadataEnd - 1)])
}

/** Inside of a string the quotes would be escaped, and no other part of the metadata has a list with that name. */
const managedFieldsFront = Buffer.from(',"managedFields":[')
/** The other list of objects in metadata. */
const ownerReferencesFront = Buffer.from(',"ownerReferences":[')
/** The end of metadata whose last part is a list of objects. */
const listOfObjectsBack = Buffer.from('}]}')

function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}

/** The text of the object's metadata in the version of the request; its position is known for an entry. */
export function servedMetadataOf(parts: RepresentationParts, served: Served, content: StoredContent): Uint8Array {
  const { value, metadataStart, metadataEnd } = content
  const isShownAsStored = isCurrent(served, content) || served.resource.conversion !== undefined
  if (!isShownAsStored) return metadataOf(toServedBytes(parts, served, content))
  if (metadataStart === undefined || metadataEnd === undefined) return metadataOf(value)
  return metadataOf(value, { start: metadataStart, end: metadataEnd })
}

/** The making of a form of an object. */
interface Making<T> {
  readonly representation: string
  readonly make: () => T
  readonly bytesOf: (value: T) => number
}

/** Without `forms`, and for an object without an entry, a form is created and not cached. */
function kept<T>(
  representations: Representations | undefined,
  { key, revision }: StoredContent,
  { representation, make, bytesOf }: Making<T>,
): T {
  if (representations === undefined || key === undefined || revision === undefined) return make()
  return representations.get(representation, { key, revision }, make, bytesOf)
}

/** The approximate memory of a row: its frame, and two bytes per character of its texts. */
function rowBytes({ cells, conditions }: TableRow): number {
  let bytes = 128 + conditions.length * 256
  for (const cell of cells) bytes += typeof cell === 'string' ? 24 + 2 * cell.length : 48
  return bytes
}
