/** A value in DER: its tag, its start, and the position of its content. */
export interface DerValue {
  readonly tag: number
  readonly from: number
  readonly start: number
  readonly end: number
}

/** Tags of DER values. */
export const derTags = {
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  objectIdentifier: 0x06,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
  /** In the identifier of an authority's key. */
  keyIdentifier: 0x80,
  /** In a certificate request. */
  attributes: 0xa0,
  /** In a certificate. */
  extensions: 0xa3,
} as const

/** The bytes are not the expected DER; the message says why. */
export class DerError extends Error {
  override readonly name = 'DerError'
}

/** The values within another value, or within a whole text. */
export function derValues(bytes: Buffer, { start, end }: Pick<DerValue, 'start' | 'end'>): readonly DerValue[] {
  const values: DerValue[] = []
  for (let at = start; at < end; ) {
    const value = readValue(bytes, { start: at, end })
    values.push(value)
    at = value.end
  }
  return values
}

/** The value if it has this tag; throws otherwise. */
export function expectDer(value: DerValue | undefined, tag: number): DerValue {
  if (value?.tag !== tag) throw new DerError(`expected a value of tag ${tag}, got ${value?.tag ?? 'none'}`)
  return value
}

/** A value with this content. */
export function printDer(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const length = content.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([Uint8Array.of(tag, ...lengthOf(length)), ...content])
}

/** Encodes a length. From 128 on, the first byte states how many bytes follow. */
function lengthOf(length: number): number[] {
  if (length < 0x80) return [length]
  const digits: number[] = []
  for (let rest = length; rest > 0; rest >>= 8) digits.unshift(rest & 0xff)
  return [0x80 | digits.length, ...digits]
}

function readValue(bytes: Buffer, { start, end }: Pick<DerValue, 'start' | 'end'>): DerValue {
  const tag = bytes[start]
  const first = bytes[start + 1]
  if (tag === undefined || first === undefined || start + 2 > end) throw new DerError('a value ends too early')
  // From 128 on, the first byte states how many bytes of length follow.
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  if (first === 0x80 || lengthBytes > 4) throw new DerError('a length is not one of DER')
  const contentStart = start + 2 + lengthBytes
  if (contentStart > end) throw new DerError('a value ends too early')
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(start + 2, lengthBytes)
  if (contentStart + length > end) throw new DerError('a value ends too early')
  return { tag, from: start, start: contentStart, end: contentStart + length }
}
