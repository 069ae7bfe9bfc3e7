import { printJson } from '../json/print.ts'
import { decodeJson } from '../json/scan.ts'
import { MalformedProtobuf } from './reader.ts'

/** Prints JSON for a field of a message. Integers beyond 2^53 are rare; only values with such integers use the exact way. */
export function printEmbeddedJson(value: unknown): string {
  try {
    return printJson(value)
  } catch (error) {
    if (error instanceof TypeError) return printJson(value, { hasBigIntegers: true })
    throw error
  }
}

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
