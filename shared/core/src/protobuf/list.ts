import { writeEnvelopeEnd, writeEnvelopeStart } from './envelope-parts.ts'
import { writeMessage } from './message-writer.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

/** A list around its items, which are between the two parts as `encodeProtobufItem` gives them. */
export interface ProtobufListFrame {
  readonly front: Uint8Array
  readonly back: Uint8Array
}

/** The list's own fields, and the bytes of all its items together. */
export interface ProtobufListSource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: object
  readonly itemsBytes: number
}

/** Front and back of a list, so that items whose bytes are ready need not be looked into. */
export function printProtobufListFrame({ apiVersion, kind, metadata, itemsBytes }: ProtobufListSource): ProtobufListFrame {
  writer.reset()
  writeMessage('meta/v1.ListMeta', writer, metadata)
  writer.varint(writer.length)
  writer.varint(listMetaTag)
  writeEnvelopeStart(writer, { apiVersion, kind, rawBytes: writer.length + itemsBytes })
  const front = writer.finish()
  writeEnvelopeEnd(writer)
  return { front, back: writer.finish() }
}

/** The message of an item of a list: the same bytes without field number and length. */
export function messageOfItem(item: Uint8Array): Uint8Array {
  const reader = new Reader(item)
  reader.tag()
  return reader.bytes()
}

const writer = new Writer()

/** Field 1 of a list, with a length. */
const listMetaTag = 0x0a
