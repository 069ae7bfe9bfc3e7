import { isJsonObject } from './member.ts'

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
const replacement = '\ufffd'

/** Parses JSON that this server has written, such as a stored object. */
export const parseBytes = (bytes: Uint8Array) => JSON.parse(utf8.decode(bytes))

/** The object in bytes of JSON; undefined for anything else. */
export function parseObject(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = parseBytes(bytes)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Decodes a body. Each byte that is not part of a character becomes U+FFFD, as in Go; the platform's decoder makes a single U+FFFD of a
 * truncated character.
 */
export function decodeText(bytes: Uint8Array): string {
  const text = utf8.decode(bytes)
  return text.includes(replacement) ? decodeBytewise(bytes, () => replacement) : text
}

/** The first of 256 lone surrogates that represent invalid bytes in `markWrongBytes`. */
export const wrongBytesStart = 0xdc00

/** Like `decodeText`, for messages that name an invalid byte: each becomes a lone surrogate that encodes the byte. */
export function markWrongBytes(bytes: Uint8Array): string {
  return decodeBytewise(bytes, (byte) => String.fromCharCode(wrongBytesStart + byte))
}

function decodeBytewise(bytes: Uint8Array, wrongText: (byte: number) => string): string {
  const parts: string[] = []
  let at = 0
  while (at < bytes.length) {
    const start = at
    for (let length = characterLength(bytes, at); length > 0; length = characterLength(bytes, at)) at += length
    if (at > start) parts.push(utf8.decode(bytes.subarray(start, at)))
    for (; at < bytes.length && characterLength(bytes, at) === 0; at++) parts.push(wrongText(bytes[at] ?? 0))
  }
  return parts.join('')
}

/** The number of bytes of the character that begins here; 0 if there is none. */
function characterLength(bytes: Uint8Array, at: number): number {
  if (at === bytes.length) return 0
  const first = bytes[at] ?? 0
  if (first < 0x80) return 1
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0
  if (length === 0 || at + length > bytes.length) return 0
  const second = bytes[at + 1] ?? 0
  if (second < secondMin(first) || second > secondMax(first)) return 0
  for (let index = at + 2; index < at + length; index++) if (!isContinuation(bytes[index] ?? 0)) return 0
  return length
}

/** Overlong encodings are invalid. */
function secondMin(first: number): number {
  if (first === 0xe0) return 0xa0
  return first === 0xf0 ? 0x90 : 0x80
}

/** Surrogates and values beyond Unicode are invalid. */
function secondMax(first: number): number {
  if (first === 0xed) return 0x9f
  return first === 0xf4 ? 0x8f : 0xbf
}

function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte <= 0xbf
}

/** Matches surrogate pairs, so that the second half is not matched alone, and lone surrogates. */
const halves = /\\u[dD](?:[89abAB][\da-fA-F]{2}\\u[dD][c-fC-F]|[89a-fA-F])[\da-fA-F]{2}/g
const halfLength = 6

/** A JSON text in which U+FFFD replaces each escape of a lone surrogate, as Go reads it. */
export function replaceHalfPairs(text: string): string {
  if (!text.includes('\\ud') && !text.includes('\\uD')) return text
  return text.replace(halves, (found: string, at: number) => {
    if (!isEscaped(text, at)) return found.length > halfLength ? found : replacement
    // The first backslash is escaped, so the second surrogate is alone.
    return found.length > halfLength ? found.slice(0, halfLength) + replacement : found
  })
}

/** The position of the first escape of a surrogate in a JSON text. */
export function surrogateEscapeIn(text: string): number | undefined {
  for (const { index } of text.matchAll(/\\u[dD][89a-fA-F]/g)) if (!isEscaped(text, index)) return index
  return undefined
}

/** True if an odd number of backslashes precedes a position. */
export function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text.charAt(first - 1) === '\\') first -= 1
  return (at - first) % 2 === 1
}
