import type { Writer } from './writer.ts'

/** PROTO-01: the first four bytes of every Protobuf body, which are the same in every profile. */
export const protobufMagic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00)

/** Tags of the envelope's parts: field number and wire type. */
export const typeMetaTag = 0x0a
export const apiVersionTag = 0x0a
export const kindTag = 0x12
export const rawTag = 0x12
export const contentEncodingTag = 0x1a
export const contentTypeTag = 0x22

/** Writes the bytes after the message: encoding and content type, which are written although they are empty. */
export function writeEnvelopeEnd(target: Writer): void {
  target.text('')
  target.varint(contentTypeTag)
  target.text('')
  target.varint(contentEncodingTag)
}

/** Writes the bytes before the message, including its length. */
export function writeEnvelopeStart(
  target: Writer,
  { apiVersion, kind, rawBytes }: { apiVersion: string; kind: string; rawBytes: number },
): void {
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
