import { resolveStruct } from '../schema/resolve.ts'
import { writeMessage } from './message-writer.ts'
import { Writer } from './writer.ts'

/** Whether a type has a form on the Protobuf wire; a Table has none. */
export function hasProtobuf(type: string): boolean {
  return resolveStruct(type).hasNoProtobuf !== true
}

/**
 * An object of a type as the bytes of its message. The object is one that `decoderOf` of that type has read: its values
 * are of the right types and in canonical form. `kind` and `apiVersion` are not part of the message; the envelope has them.
 */
export function encodeProtobuf(type: string, object: object): Uint8Array {
  writer.reset()
  writeMessage(type, writer, object)
  return writer.finish()
}

/** As `encodeProtobuf`, with the field number and length that the message has as an item of a list. */
export function encodeProtobufItem(type: string, object: object): Uint8Array {
  writer.reset()
  writeMessage(type, writer, object)
  writer.varint(writer.length)
  writer.varint(itemTag)
  return writer.finish()
}

/** Field 2 of a list, with a length. */
const itemTag = 0x12

/** Encoding never waits, so one buffer serves everybody in turn. */
const writer = new Writer()
