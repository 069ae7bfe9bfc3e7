import { printJson } from '../json/print.ts'
import { decodeJson } from '../json/scan.ts'
import { MalformedProtobuf } from './reader.ts'

/** JSON inside of a message. Integers beyond 2^53 are rare: only the value that has some takes the exact way. */
export function printEmbeddedJson(value: unknown): string {
  try {
    return printJson(value)
  } catch (error) {
    if (error instanceof TypeError) return printJson(value, { hasBigIntegers: true })
    throw error
  }
}

/** The value of JSON inside of a message; nothing at all is null. */
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
