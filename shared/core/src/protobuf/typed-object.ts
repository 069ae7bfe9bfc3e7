import type { Names } from '../names.ts'
import { decoderOf, typeNameAt, typeOfKind } from '../schema/index.ts'
import { decodeProtobuf } from './decode.ts'
import { parseEnvelope } from './envelope.ts'

/** An object decoded by the type in its envelope. */
export type TypedObjectReading =
  | { readonly kind: 'object'; readonly object: Readonly<Record<string, unknown>> & { readonly apiVersion: string; readonly kind: string } }
  /** The type is unknown. */
  | { readonly kind: 'untyped'; readonly apiVersion: string; readonly named: string }
  | { readonly kind: 'malformed'; readonly message: string }

/** Decodes a message in its envelope to the JSON that a client would send, without the message's many empty fields. */
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
