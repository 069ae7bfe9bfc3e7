import { decodeJson } from '../json/scan.ts'
import { MalformedProtobuf } from './reader.ts'

/** Parses JSON in a field of a message; an empty text is null. */
export function parseEmbeddedJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return null
  const decoded = decodeJson(bytes)
  switch (decoded.kind) {
    case 'json':
      return decoded.value
    case 'malformed':
      throw new MalformedProtobuf(`a value that is passed through is not JSON: ${decoded.message}`)
  }
}
