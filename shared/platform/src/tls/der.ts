/** The few values of ASN.1 that a certificate is made of, in their one binary form (DER). */

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  identifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** UTCTime has two digits for the year: up to 2049. */
const utcTimeYearMax = 2049

/** A tag, the length of what follows, and that. */
export function printTagged(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content)
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body])
  const length = bytesOf(body.length)
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length, ...length]), body])
}

/** A value within a tag of the context, `[3]`. */
export function printExplicit(number: number, ...content: readonly Uint8Array[]): Buffer {
  return printTagged(0xa0 | number, ...content)
}

/** A value whose own tag is replaced by one of the context. */
export function printImplicit(number: number, content: Uint8Array): Buffer {
  return printTagged(0x80 | number, content)
}

export function printSequence(...content: readonly Uint8Array[]): Buffer {
  return printTagged(tags.sequence, ...content)
}

export function printSet(...content: readonly Uint8Array[]): Buffer {
  return printTagged(tags.set, ...content)
}

export function printTrue(): Buffer {
  return printTagged(tags.boolean, Buffer.from([0xff]))
}

/** A positive number, most significant byte first; the first bit of the first byte must be clear and the byte not 0. */
export function printInteger(bytes: Uint8Array): Buffer {
  return printTagged(tags.integer, bytes)
}

/** Bits of which the last `unusedBits` of the last byte do not count. */
export function printBitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return printTagged(tags.bitString, Buffer.from([unusedBits]), bytes)
}

export function printOctetString(bytes: Uint8Array): Buffer {
  return printTagged(tags.octetString, bytes)
}

export function printText(text: string): Buffer {
  return printTagged(tags.utf8String, Buffer.from(text))
}

/**
 * An object identifier: the first two numbers share a byte, the others take seven bits a byte.
 *
 *   2.5.29.17 → 06 03 55 1d 11        1.2.840 → 06 03 2a 86 48
 */
export function printIdentifier(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  return printTagged(tags.identifier, Buffer.from([first * 40 + second, ...rest.flatMap(toSevenBits)]))
}

/** A moment to the second. */
export function printTime(timeMs: number): Buffer {
  const time = new Date(timeMs)
  const digits = `${time.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`
  return time.getUTCFullYear() <= utcTimeYearMax
    ? printTagged(tags.utcTime, Buffer.from(digits.slice(2)))
    : printTagged(tags.generalizedTime, Buffer.from(digits))
}

function toSevenBits(value: number): number[] {
  const digits = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) digits.unshift((rest & 0x7f) | 0x80)
  return digits
}

function bytesOf(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff)
  return bytes
}

/** A value as it was read. */
export interface Tagged {
  readonly tag: number
  /** With tag and length. */
  readonly whole: Buffer
  readonly content: Buffer
}

/** The values that follow one another in these bytes. */
export function parseTagged(bytes: Buffer): Tagged[] {
  const found: Tagged[] = []
  for (let at = 0; at < bytes.length; ) {
    const lengthByte = bytes.readUInt8(at + 1)
    const lengthBytes = lengthByte < 0x80 ? 0 : lengthByte & 0x7f
    const length = lengthBytes === 0 ? lengthByte : bytes.readUIntBE(at + 2, lengthBytes)
    const start = at + 2 + lengthBytes
    const end = start + length
    if (end > bytes.length) throw new RangeError('a value of DER is longer than what holds it')
    found.push({ tag: bytes.readUInt8(at), whole: bytes.subarray(at, end), content: bytes.subarray(start, end) })
    at = end
  }
  return found
}
