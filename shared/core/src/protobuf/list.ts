import { knownReleases } from '../gate-releases.ts'
import { typeNameAt } from '../schema/resolve.ts'
import { writeEnvelopeEnd, writeEnvelopeStart } from './envelope-parts.ts'
import { writeMessage } from './message-writer.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

/** The fields of a list, and the total length of its items. */
export interface ProtobufListSource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: object
  readonly itemsBytes: number
}

/** Prints the front and back of a list, so that encoded items can be used as bytes. */
export function printProtobufListFrame({ apiVersion, kind, metadata, itemsBytes }: ProtobufListSource) {
  writer.reset()
  // The newest level has the members of all levels.
  writeMessage(typeNameAt('meta/v1.ListMeta', knownReleases.newest), writer, metadata)
  writer.varint(writer.length)
  writer.varint(listMetaTag)
  writeEnvelopeStart(writer, { apiVersion, kind, rawBytes: writer.length + itemsBytes })
  const front = writer.finish()
  writeEnvelopeEnd(writer)
  return { front, back: writer.finish() }
}

/** The message of a list item, without field number and length. */
export function messageOfItem(item: Uint8Array): Uint8Array {
  const reader = new Reader(item)
  reader.tag()
  return reader.bytes()
}

const writer = new Writer()

/** The tag of a list's field 1, with a length. */
const listMetaTag = 0x0a
