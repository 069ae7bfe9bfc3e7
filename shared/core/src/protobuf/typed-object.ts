import type { Names } from '../names.ts'
import { decoderOf } from '../schema/decode.ts'
import { typeNameAt, typeOfKind } from '../schema/resolve.ts'
import { decodeProtobuf } from './decode.ts'
import { parseEnvelope } from './envelope.ts'

/** An object that was read by the type that its envelope names. */
export type TypedObjectReading =
  | { readonly kind: 'object'; readonly object: Readonly<Record<string, unknown>> & { readonly apiVersion: string; readonly kind: string } }
  /** No such type is known. */
  | { readonly kind: 'untyped'; readonly apiVersion: string; readonly named: string }
  | { readonly kind: 'malformed'; readonly message: string }

/** Reads a message in its envelope as the JSON that a client would send: without the many empty fields of a message. */
export function readTypedObject(
  bytes: Uint8Array,
  { names, level }: { readonly names: Names; readonly level: number },
): TypedObjectReading {
  const reading = parseEnvelope(bytes, names)
  if (reading.kind === 'malformed') return reading
  const { apiVersion, kind, raw } = reading.envelope
  const named = typeOfKind(names, apiVersion, kind)
  if (named === undefined) return { kind: 'untyped', apiVersion, named: kind }
  const type = typeNameAt(named, level)
  const message = decodeProtobuf(type, raw)
  if (message.kind === 'malformed') return message
  const decoded = decoderOf(type)(message.object, { trackUnknown: false })
  return { kind: 'object', object: { ...(decoded.kind === 'mismatch' ? message.object : decoded.object), kind, apiVersion } }
}
