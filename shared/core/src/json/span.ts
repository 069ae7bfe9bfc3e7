/** The position of a value in a text. */
export interface Span {
  readonly start: number
  readonly end: number
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/**
 * The position of a member's value in the object that begins at `at`; undefined if the member is absent or `at` is not an object.
 * The text is not parsed. It must be JSON written by this server, and the name must not need escapes.
 */
export function memberSpan(text: Uint8Array, at: number, name: string): Span | undefined {
  const start = memberStart(text, at, name)
  return start === undefined ? undefined : { start, end: skipValue(text, start) }
}

/** The start of a member's value, like `memberSpan`, for a long value whose end is found otherwise. */
export function memberStart(text: Uint8Array, at: number, name: string): number | undefined {
  const begin = skipSpace(text, at)
  if (text[begin] !== openBrace) return undefined
  let position = skipSpace(text, begin + 1)
  while (position < text.length && text[position] !== closeBrace) {
    const keyEnd = skipValue(text, position)
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1)
    if (isText(text, position, keyEnd, name)) return start
    position = skipSpace(text, skipValue(text, start))
    if (text[position] === comma) position = skipSpace(text, position + 1)
  }
  return undefined
}

/**
 * The positions of the items of the array that begins at `at`. Returns the end of the array, or undefined if the text is truncated. The span of an item
 * of more than `bytesMax` ends one byte after them.
 */
export function* itemSpans(text: Uint8Array, at: number, bytesMax = text.length): Generator<Span, number | undefined, undefined> {
  let position = skipSpace(text, at + 1)
  if (text[position] === closeBracket) return position + 1
  for (;;) {
    const limit = position + bytesMax
    const end = skipValue(limit < text.length ? text.subarray(0, limit + 1) : text, position)
    if (end === position || end > text.length) return undefined
    yield { start: position, end }
    position = skipSpace(text, end)
    if (text[position] === closeBracket) return position + 1
    if (text[position] !== comma) return undefined
    position = skipSpace(text, position + 1)
  }
}

function isText(text: Uint8Array, start: number, end: number, name: string): boolean {
  if (end - start !== name.length + 2) return false
  for (let index = 0; index < name.length; index += 1) if (text[start + 1 + index] !== name.charCodeAt(index)) return false
  return true
}

function skipSpace(text: Uint8Array, at: number): number {
  let position = at
  while (position < text.length && text[position]! <= 0x20) position += 1
  return position
}

/** The end of the value that begins at `at`. */
function skipValue(text: Uint8Array, at: number): number {
  if (text[at] === quote) return skipString(text, at)
  if (text[at] === openBrace || text[at] === openBracket) return skipNested(text, at)
  let position = at
  while (position < text.length && !isEndOfScalar(text[position]!)) position += 1
  return position
}

/** This loop takes most of the time of finding objects in a dump, so it calls nothing. */
function skipNested(text: Uint8Array, at: number): number {
  const { length } = text
  let depth = 0
  let position = at
  while (position < length) {
    const byte = text[position]!
    position += 1
    if (byte <= 0x20) {
      while (text[position] === 0x20) position += 1
    } else if (byte === quote) {
      for (let inside = text[position]; inside !== quote && position < length; inside = text[position])
        position += inside === backslash ? 2 : 1
      position += 1
    } else if (byte === openBrace || byte === openBracket) {
      depth += 1
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1
      if (depth === 0) break
    }
  }
  return position
}

function isEndOfScalar(byte: number): boolean {
  return byte === comma || byte === closeBrace || byte === closeBracket || byte <= 0x20
}

function skipString(text: Uint8Array, at: number): number {
  let position = at + 1
  while (position < text.length && text[position] !== quote) position += text[position] === backslash ? 2 : 1
  return position + 1
}
