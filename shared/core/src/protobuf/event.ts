import { Writer } from './writer.ts'

/** The types of an event. */
export type ProtobufEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'

/** A watch event: the length in four bytes, big-endian, followed by type and object. */
export function printProtobufEvent(type: ProtobufEventType, envelope: Uint8Array): Uint8Array {
  writer.reset()
  writer.raw(envelope)
  writer.varint(envelope.length)
  writer.varint(rawExtensionTag)
  writer.varint(writer.length)
  writer.varint(eventObjectTag)
  writer.text(type)
  writer.varint(eventTypeTag)
  const { length } = writer
  writer.raw(Uint8Array.of(length >>> 24, length >>> 16, length >>> 8, length))
  return writer.finish()
}

const writer = new Writer()

const eventTypeTag = 0x0a
const eventObjectTag = 0x12
const rawExtensionTag = 0x0a
