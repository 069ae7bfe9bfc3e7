import { resolveStruct } from '../schema/resolve.ts'
import { JsonMessages } from './json-message.ts'
import { writeMessage } from './message-writer.ts'
import { Writer } from './writer.ts'

/** True if a type has a form on the Protobuf wire; a Table has none. */
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

/** The same of an object whose JSON we have printed. */
export function encodeJsonItem(type: string, json: Uint8Array): Uint8Array {
  writer.reset()
  messages.write(type, json)
  writer.varint(writer.length)
  writer.varint(itemTag)
  return writer.finish()
}

/**
 * Objects as `encodeProtobufItem` gives them, consecutive in one buffer: a buffer for each of them would take longer
 * to get than to fill.
 */
export function encodeProtobufItems(type: string, objects: readonly object[]): Uint8Array[] {
  return encodeItems(objects, (object) => writeMessage(type, writer, object))
}

/** The same of objects whose JSON we have printed. */
export function encodeJsonItems(type: string, jsons: readonly Uint8Array[]): Uint8Array[] {
  return encodeItems(jsons, (json) => messages.write(type, json))
}

function encodeItems<T>(items: readonly T[], write: (item: T) => void): Uint8Array[] {
  writer.reset()
  const lengths: number[] = []
  // The writer writes from the end to the start.
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

/** Field 2 of a list, with a length. */
const itemTag = 0x12

/** Encoding never waits, so one buffer serves everybody in turn. */
const writer = new Writer()
const messages = new JsonMessages(writer)
