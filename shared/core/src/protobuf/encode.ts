import { resolveStruct } from '../schema/resolve.ts'
import { JsonMessages } from './json-message.ts'
import { writeMessage } from './message-writer.ts'
import { Writer } from './writer.ts'

/** True if a type has a form on the Protobuf wire; a Table has none. */
export function hasProtobuf(type: string): boolean {
  return resolveStruct(type).hasNoProtobuf !== true
}

/**
 * Encodes an object of a type. `decoderOf` of that type must have read the object, so that values
 * have the right types and canonical form. The message does not contain `kind` and `apiVersion`, which are in the envelope.
 */
export function encodeProtobuf(type: string, object: object): Uint8Array {
  writer.reset()
  writeMessage(type, writer, object)
  return writer.finish()
}

/** Like `encodeProtobuf`, as a list item with field number and length. */
export function encodeProtobufItem(type: string, object: object): Uint8Array {
  writer.reset()
  writeMessage(type, writer, object)
  writer.varint(writer.length)
  writer.varint(itemTag)
  return writer.finish()
}

/** Like `encodeProtobufItem`, from JSON that this server has printed. */
export function encodeJsonItem(type: string, json: Uint8Array): Uint8Array {
  writer.reset()
  messages.write(type, json)
  writer.varint(writer.length)
  writer.varint(itemTag)
  return writer.finish()
}

/**
 * Encodes objects like `encodeProtobufItem`, consecutively in one buffer: allocating a buffer per object would take longer
 * than filling it.
 */
export function encodeProtobufItems(type: string, objects: readonly object[]): Uint8Array[] {
  return encodeItems(objects, (object) => writeMessage(type, writer, object))
}

/** Like `encodeProtobufItems`, from JSON that this server has printed. */
export function encodeJsonItems(type: string, jsons: readonly Uint8Array[]): Uint8Array[] {
  return encodeItems(jsons, (json) => messages.write(type, json))
}

function encodeItems<T>(items: readonly T[], write: (item: T) => void): Uint8Array[] {
  writer.reset()
  const lengths: number[] = []
  // The writer writes backwards.
  for (const item of items.toReversed()) {
    const before = writer.length
    write(item)
    writer.varint(writer.length - before)
    writer.varint(itemTag)
    lengths.push(writer.length - before)
  }
  const bytes = writer.finish()
  let at = 0
  return lengths.reverse().map((length) => {
    at += length
    return bytes.subarray(at - length, at)
  })
}

/** The tag of a list's field 2, with a length. */
const itemTag = 0x12

/** Encoding is synchronous, so all encoders share one buffer. */
const writer = new Writer()
const messages = new JsonMessages(writer)
