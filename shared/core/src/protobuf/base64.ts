import type { Writer } from './writer.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const padding = 0x3d
const codes = Uint8Array.from(alphabet, (character) => character.charCodeAt(0))
const digits = new Uint8Array(128)
for (const [digit, code] of codes.entries()) digits[code] = digit

const ascii = new TextDecoder('latin1')

/** Writes the bytes of a valid padded base64 text, prefixed with their length. */
export function writeBase64(writer: Writer, text: string): void {
  const size = decodedSize(text)
  const { bytes, at } = writer.space(size)
  let to = at
  const end = at + size
  for (let from = 0; to < end; from += 4) {
    const group = (digitAt(text, from) << 18) | (digitAt(text, from + 1) << 12) | (digitAt(text, from + 2) << 6) | digitAt(text, from + 3)
    bytes[to++] = group >> 16
    if (to < end) bytes[to++] = group >> 8
    if (to < end) bytes[to++] = group
  }
  writer.varint(size)
}

/** Prints bytes as padded base64. */
export function printBase64(bytes: Uint8Array): string {
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4)
  let to = 0
  for (let from = 0; from < bytes.length; from += 3) {
    const left = bytes.length - from
    const group = (bytes[from]! << 16) | ((bytes[from + 1] ?? 0) << 8) | (bytes[from + 2] ?? 0)
    text[to++] = codes[group >> 18]!
    text[to++] = codes[(group >> 12) & 63]!
    text[to++] = left > 1 ? codes[(group >> 6) & 63]! : padding
    text[to++] = left > 2 ? codes[group & 63]! : padding
  }
  return ascii.decode(text)
}

function decodedSize(text: string): number {
  const end = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return (text.length / 4) * 3 - end
}

function digitAt(text: string, index: number): number {
  return digits[text.charCodeAt(index)] ?? 0
}
