import type { Names } from '../names.ts'
import { writeMessage } from './message-writer.ts'
import { MalformedProtobuf, Reader, reading } from './reader.ts'
import { Writer } from './writer.ts'

/** PROTO-01: the four bytes that every Protobuf body begins with, the same under every profile. */
export const protobufMagic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00)

/** A message together with what it is. */
export interface ProtobufEnvelope {
  readonly apiVersion: string
  readonly kind: string
  /** The object's message. */
  readonly raw: Uint8Array
}

/** What became of a body. */
export type EnvelopeReading =
  | { readonly kind: 'envelope'; readonly envelope: ProtobufEnvelope }
  | { readonly kind: 'malformed'; readonly message: string }

/** An object whose Protobuf form is wanted: `apiVersion` and `kind` as they stand in its JSON, and the type that it was read as. */
export interface ProtobufSource {
  readonly apiVersion: string
  readonly kind: string
  readonly type: string
  readonly object: object
}

/** PROTO-01…08: a message in its envelope. */
export function printEnvelope({ apiVersion, kind, raw }: ProtobufEnvelope): Uint8Array {
  writer.reset()
  writeEnvelopeEnd(writer)
  writer.raw(raw)
  writeEnvelopeStart(writer, { apiVersion, kind, rawBytes: raw.length })
  return writer.finish()
}

/** An object in its envelope: `encodeProtobuf` and `printEnvelope` in one go. */
export function printProtobuf({ apiVersion, kind, type, object }: ProtobufSource): Uint8Array {
  writer.reset()
  writeEnvelopeEnd(writer)
  const before = writer.length
  writeMessage(type, writer, object)
  writeEnvelopeStart(writer, { apiVersion, kind, rawBytes: writer.length - before })
  return writer.finish()
}

/** Reads a body. One that is compressed, or not Protobuf inside, is refused. */
export function parseEnvelope(body: Uint8Array, { protobufMediaType }: Pick<Names, 'protobufMediaType'>): EnvelopeReading {
  if (!protobufMagic.every((byte, index) => body[index] === byte)) {
    return { kind: 'malformed', message: `a Protobuf body begins with the bytes ${printHex(protobufMagic)}` }
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

/** A list around its items, which lie between the two parts as `encodeProtobufItem` gives them. */
export interface ProtobufListFrame {
  readonly front: Uint8Array
  readonly back: Uint8Array
}

/** What a list says of itself, and the bytes of all its items together. */
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

/** The type words of an event. */
export type ProtobufEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'

/** One event of a stream: the length of what follows in four bytes, high byte first, then type and object. */
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

const typeMetaTag = 0x0a
const apiVersionTag = 0x0a
const kindTag = 0x12
const rawTag = 0x12
const contentEncodingTag = 0x1a
const contentTypeTag = 0x22
const listMetaTag = 0x0a
const eventTypeTag = 0x0a
const eventObjectTag = 0x12
const rawExtensionTag = 0x0a

/** Encoding and content type are written though they are empty. */
function writeEnvelopeEnd(target: Writer): void {
  target.text('')
  target.varint(contentTypeTag)
  target.text('')
  target.varint(contentEncodingTag)
}

function writeEnvelopeStart(target: Writer, { apiVersion, kind, rawBytes }: { apiVersion: string; kind: string; rawBytes: number }): void {
  target.varint(rawBytes)
  target.varint(rawTag)
  const before = target.length
  target.text(kind)
  target.varint(kindTag)
  target.text(apiVersion)
  target.varint(apiVersionTag)
  target.varint(target.length - before)
  target.varint(typeMetaTag)
  target.raw(protobufMagic)
}

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

function printHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
}
