import { cborToJson } from '@orch/core/cbor'
import { limits } from '../limits.ts'
import type { TextAnswer } from './jobs.ts'

/** CBOR as JSON. */
export function readCbor(bytes: Uint8Array): Extract<TextAnswer, { kind: 'bytes' | 'malformed' | 'tooManyValues' }> {
  const reading = cborToJson(bytes, { valuesMax: limits.bodyValuesMax })
  return reading.kind === 'json' ? { kind: 'bytes', bytes: new TextEncoder().encode(reading.text) } : reading
}
