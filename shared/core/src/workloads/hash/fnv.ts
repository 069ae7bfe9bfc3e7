const offset = 2_166_136_261
const prime = 16_777_619

/** FNV-1a of 32 bits. `state` continues an earlier hash. */
export function fnv1a(bytes: Uint8Array, state = offset): number {
  let hash = state
  for (const byte of bytes) hash = Math.imul(hash ^ byte, prime)
  return hash >>> 0
}

/** FNV-1 of 32 bits. */
export function fnv1(bytes: Uint8Array): number {
  let hash = offset
  for (const byte of bytes) hash = Math.imul(hash, prime) ^ byte
  return hash >>> 0
}

const alphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** A hash as a part of a name, without vowels that could make words: 0 is `4`, 10 is `54`. */
export function encodeHash(hash: number): string {
  return [...String(hash)].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('')
}
