import type { Names } from '../names.ts'
import {
  apiVersionTag,
  contentEncodingTag,
  contentTypeTag,
  kindTag,
  protobufMagic,
  rawTag,
  typeMetaTag,
  writeEnvelopeEnd,
  writeEnvelopeStart,
} from './envelope-parts.ts'
import { JsonMessages } from './json-message.ts'
import { writeMessage } from './message-writer.ts'
import { MalformedProtobuf, Reader, reading } from './reader.ts'
import { Writer } from './writer.ts'

/** A message with its type. */
export interface ProtobufEnvelope {
  readonly apiVersion: string
  readonly kind: string
  /** The object's message. */
  readonly raw: Uint8Array
}

/** The result of reading a body. */
export type EnvelopeReading =
  | { readonly kind: 'envelope'; readonly envelope: ProtobufEnvelope }
  | { readonly kind: 'malformed'; readonly message: string }

/** An object to encode: the `apiVersion` and `kind` of its JSON, and the type with which it was decoded. */
export interface ProtobufSource {
  readonly apiVersion: string
  readonly kind: string
  readonly type: string
  readonly object: object
}

/** PROTO-01…08: prints a message in its envelope. */
export function printEnvelope({ apiVersion, kind, raw }: ProtobufEnvelope): Uint8Array {
  writer.reset()
  writeEnvelopeEnd(writer)
  writer.raw(raw)
  writeEnvelopeStart(writer, { apiVersion, kind, rawBytes: raw.length })
  return writer.finish()
}

/** Encodes an object in its envelope: `encodeProtobuf` and `printEnvelope` in one step. */
export function printProtobuf({ apiVersion, kind, type, object }: ProtobufSource): Uint8Array {
  writer.reset()
  writeEnvelopeEnd(writer)
  const before = writer.length
  writeMessage(type, writer, object)
  writeEnvelopeStart(writer, { apiVersion, kind, rawBytes: writer.length - before })
  return writer.finish()
}

/** Like `printProtobuf`, from JSON that this server has printed. */
export function printJsonProtobuf({
  apiVersion,
  kind,
  type,
  json,
}: Omit<ProtobufSource, 'object'> & { readonly json: Uint8Array }): Uint8Array {
  writer.reset()
  writeEnvelopeEnd(writer)
  const before = writer.length
  messages.write(type, json)
  writeEnvelopeStart(writer, { apiVersion, kind, rawBytes: writer.length - before })
  return writer.finish()
}

/** Parses a body. A compressed body, or one whose content is not Protobuf, is refused. */
export function parseEnvelope(body: Uint8Array, { protobufMediaType }: Pick<Names, 'protobufMediaType'>): EnvelopeReading {
  if (!protobufMagic.every((byte, index) => body[index] === byte)) {
    return {
      kind: 'malformed',
      message: `provided data does not appear to be a protobuf message, expected prefix [${[...protobufMagic].join(' ')}]`,
    }
  }
  return reading(() => {
    const unknown = readUnknown(new Reader(body.subarray(protobufMagic.length)))
    if (unknown.contentEncoding !== '') throw new MalformedProtobuf(`the content encoding ${unknown.contentEncoding} is not supported`)
    if (unknown.contentType !== '' && unknown.contentType !== protobufMediaType) {
      throw new MalformedProtobuf(`the envelope holds ${unknown.contentType}, not ${protobufMediaType}`)
    }
    const { apiVersion, kind, raw } = unknown
    return { kind: 'envelope', envelope: { apiVersion, kind, raw } }
  })
}

const writer = new Writer()
const messages = new JsonMessages(writer)

interface Unknown {
  apiVersion: string
  kind: string
  raw: Uint8Array
  contentEncoding: string
  contentType: string
}

function readUnknown(reader: Reader): Unknown {
  const unknown: Unknown = { apiVersion: '', kind: '', raw: new Uint8Array(0), contentEncoding: '', contentType: '' }
  while (!reader.isAtEnd) {
    const tag = reader.tag()
    if (tag === typeMetaTag) reader.message(() => readTypeMeta(reader, unknown))
    else if (tag === rawTag) unknown.raw = reader.bytes()
    else if (tag === contentEncodingTag) unknown.contentEncoding = reader.text()
    else if (tag === contentTypeTag) unknown.contentType = reader.text()
    else reader.skip(tag % 8)
  }
  return unknown
}

function readTypeMeta(reader: Reader, unknown: Unknown): void {
  while (!reader.isAtEnd) {
    const tag = reader.tag()
    if (tag === apiVersionTag) unknown.apiVersion = reader.text()
    else if (tag === kindTag) unknown.kind = reader.text()
    else reader.skip(tag % 8)
  }
}
