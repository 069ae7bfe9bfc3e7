const offset = 2_166_136_261
const prime = 16_777_619

/** 32-bit FNV-1a. `state` continues an earlier hash. */
export function fnv1a(bytes: Uint8Array, state = offset): number {
  let hash = state
  for (const byte of bytes) hash = Math.imul(hash ^ byte, prime)
  return hash >>> 0
}

/** 32-bit FNV-1. */
export function fnv1(bytes: Uint8Array): number {
  let hash = offset
  for (const byte of bytes) hash = Math.imul(hash, prime) ^ byte
  return hash >>> 0
}

const alphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** Encodes a hash for a name, without vowels that could form words: 0 is `4`, 10 is `54`. */
export function encodeHash(hash: number): string {
  return [...String(hash)].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('')
}
