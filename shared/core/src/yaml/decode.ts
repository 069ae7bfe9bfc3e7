import { YamlError } from './yaml-error.ts'

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes UTF-8, or UTF-16 with a byte order mark. Throws a YamlError for other bytes. */
export function decodeYaml(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return strictUtf8.decode(bytes)
  } catch {
    throw new YamlError(`yaml: ${firstFault(bytes)}`)
  }
}

/** The error about the first invalid bytes. */
function firstFault(bytes: Uint8Array): string {
  for (let at = 0; at < bytes.length; ) {
    const width = widthOf(bytes[at] ?? 0)
    if (width === 0) return 'invalid leading UTF-8 octet'
    if (at + width > bytes.length) return 'incomplete UTF-8 octet sequence'
    const sequence = bytes.subarray(at, at + width)
    if (sequence.subarray(1).some((byte) => byte >> 6 !== 0b10)) return 'invalid trailing UTF-8 octet'
    const fault = faultOf(sequence)
    if (fault !== undefined) return fault
    at += width
  }
  return 'invalid Unicode character'
}

function widthOf(leading: number): number {
  if (leading < 0x80) return 1
  if (leading >> 5 === 0b110) return 2
  if (leading >> 4 === 0b1110) return 3
  return leading >> 3 === 0b11110 ? 4 : 0
}

/** The error of a byte sequence: not a character, or not its shortest form; undefined if it is valid. */
function faultOf(sequence: Uint8Array): string | undefined {
  const [leading = 0, ...trailing] = sequence
  const bits = sequence.length === 1 ? leading : leading & (0xff >> (sequence.length + 1))
  const code = trailing.reduce((value, byte) => value * 64 + (byte & 0x3f), bits)
  const least = [0, 0x80, 0x800, 0x1_0000][sequence.length - 1] ?? 0
  if (code < least) return 'invalid length of a UTF-8 sequence'
  return (code >= 0xd800 && code <= 0xdfff) || code > 0x10_ffff ? 'invalid Unicode character' : undefined
}
