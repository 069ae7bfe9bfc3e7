import type { Entry } from '@orch/core/contracts'
import { partialMetadataType, readOurJson, readOurObject } from '@orch/core/events'
import { encodeProtobufItems } from '@orch/core/protobuf'
import { isCurrent, toServedObject } from '../conversion/convert.ts'
import { limits } from '../limits.ts'
import type { Served } from '../target/target.ts'
import type { Representations } from './representation-cache.ts'
import { protobufOf, protobufRepresentationOf, type RepresentationParts, servedMetadataOf } from './stored-representations.ts'

/** The conversion of a list's entries to items of a Protobuf list. */
export interface ItemRepresentation {
  /** The name of the cached items. */
  readonly name: string
  /** The items, in order in one buffer. */
  encode(entries: readonly Entry[]): Uint8Array[]
}

/** Whole objects, in the version of the request. */
export function objectItems(parts: RepresentationParts, served: Served): ItemRepresentation {
  const objectOf = (entry: Entry) => toServedObject(parts, served, readOurObject(entry.value), entry)
  const encode = (entries: readonly Entry[]) =>
    entries.every((entry) => isCurrent(served, entry))
      ? protobufOf(served).encodeStoredItems(entries.map(({ value }) => value))
      : protobufOf(served).encodeItems(entries.map(objectOf))
  return { name: protobufRepresentationOf(served), encode }
}

/** The objects' metadata. */
export function metadataItems(parts: RepresentationParts, served: Served): ItemRepresentation {
  const objectOf = (entry: Entry) => ({ metadata: readOurJson(servedMetadataOf(parts, served, entry)) })
  return {
    name: `metadata ${served.resource.apiVersion}`,
    encode: (entries) => encodeProtobufItems(partialMetadataType, entries.map(objectOf)),
  }
}

/** Consecutive items. */
export interface ItemPiece {
  readonly bytes: Uint8Array
  /** True if they were cached in this form. */
  readonly wasReady: boolean
}

/** The items of consecutive entries, in pieces. Uncached items are encoded together. */
export function* itemPieces(
  entries: readonly Entry[],
  representation: ItemRepresentation,
  representations: Representations | undefined,
): Generator<ItemPiece, void, undefined> {
  let run: Entry[] = []
  let bytes = 0
  for (const entry of entries) {
    if (run.length > 0 && bytes + entry.value.length > limits.itemsBytesAtOnce) {
      yield pieceOf(run, representation, representations)
      run = []
      bytes = 0
    }
    run.push(entry)
    bytes += entry.value.length
  }
  if (run.length > 0) yield pieceOf(run, representation, representations)
}

/** Scattered items are copied together and cached there, as one item must not hold a whole buffer. */
function pieceOf(entries: readonly Entry[], representation: ItemRepresentation, representations: Representations | undefined): ItemPiece {
  const { items, wasReady } = itemsOf(entries, representation, representations)
  const together = spanOf(items)
  if (together !== undefined) return { bytes: together, wasReady }
  const piece = Buffer.concat(items)
  let at = 0
  for (const [index, { length }] of items.entries()) {
    const entry = entries[index]
    if (entry !== undefined) keep(representations, representation, entry, piece.subarray(at, at + length))
    at += length
  }
  return { bytes: piece, wasReady: false }
}

interface Items {
  readonly items: readonly Uint8Array[]
  readonly wasReady: boolean
}

function itemsOf(entries: readonly Entry[], representation: ItemRepresentation, representations: Representations | undefined): Items {
  const known = entries.map((entry) => representations?.find<Uint8Array>(representation.name, entry))
  if (known.every(isThere)) return { items: known, wasReady: true }
  const missing = entries.filter((_, index) => known[index] === undefined)
  const made = representation.encode(missing)
  for (const [index, item] of made.entries()) {
    const entry = missing[index]
    if (entry !== undefined) keep(representations, representation, entry, item)
  }
  let next = 0
  return { items: known.map((item) => item ?? made[next++]).filter(isThere), wasReady: false }
}

const isThere = (item: Uint8Array | undefined): item is Uint8Array => item !== undefined

function keep(representations: Representations | undefined, { name }: ItemRepresentation, entry: Entry, item: Uint8Array): void {
  representations?.keep(name, entry, item, item.length)
}

/** The bytes of items that are consecutive in one buffer; undefined if they are not. */
function spanOf(items: readonly Uint8Array[]): Uint8Array | undefined {
  const [first] = items
  if (first === undefined) return undefined
  let end = first.byteOffset
  for (const { buffer, byteOffset, length } of items) {
    if (buffer !== first.buffer || byteOffset !== end) return undefined
    end += length
  }
  return new Uint8Array(first.buffer, first.byteOffset, end - first.byteOffset)
}
