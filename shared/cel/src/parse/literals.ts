import type { Constant } from '../ast.ts'
import type { Token } from './tokens.ts'

/** A literal's value, or its error. */
export type Literal = { readonly constant: Constant } | { readonly problem: string }

const intMin = -(2n ** 63n)
const intMax = 2n ** 63n - 1n
const uintMax = 2n ** 64n - 1n

/** The value of a token that is a literal, with the sign before it. */
export function readLiteral(token: Token, isNegative: boolean): Literal {
  switch (token.kind) {
    case 'int':
      return readInt(token.text, isNegative)
    case 'uint':
      return readUint(token.text.slice(0, -1))
    case 'double':
      return readDouble(`${isNegative ? '-' : ''}${token.text}`)
    case 'bytes':
      return readBytes(token.text.slice(1))
    case 'string':
    case 'punctuation':
    case 'ident':
    case 'escapedIdent':
    case 'end':
      return readString(token.text)
  }
}

/** Maximum number of digits that a double always holds exactly. */
const exactDigitsMax = 15

function readInt(text: string, isNegative: boolean): Literal {
  if (text.length <= exactDigitsMax) {
    const exact = Number(text)
    return { constant: { type: 'int', value: BigInt(isNegative ? -exact : exact) } }
  }
  const value = readDigits(text)
  if (value === undefined) return { problem: 'invalid int literal' }
  const signed = isNegative ? -value : value
  return signed < intMin || signed > intMax ? { problem: 'invalid int literal' } : { constant: { type: 'int', value: signed } }
}

function readUint(text: string): Literal {
  const value = readDigits(text)
  if (value === undefined || value > uintMax) return { problem: 'invalid uint literal' }
  return { constant: { type: 'uint', value } }
}

/** Digits beyond 64 bits are not read, since reading them takes quadratic time. */
function readDigits(text: string): bigint | undefined {
  const prefix = text.startsWith('0x') ? '0x' : ''
  const digits = text.slice(prefix.length).replace(/^0+(?=.)/, '')
  return digits.length > 20 ? undefined : BigInt(prefix + digits)
}

function readDouble(text: string): Literal {
  const value = Number(text)
  return Number.isFinite(value) ? { constant: { type: 'double', value } } : { problem: 'invalid double literal' }
}

function readString(text: string): Literal {
  const { content, isRaw } = unquote(text)
  if (isRaw || !content.includes('\\')) return { constant: { type: 'string', value: content } }
  let problem: string | undefined
  const value = content.replace(escapes, (sequence) => {
    const unit = codeOf(sequence)
    if (unit <= 0x10ffff && (unit < 0xd800 || unit > 0xdfff)) return String.fromCodePoint(unit)
    problem = 'invalid unicode code point'
    return ''
  })
  return problem === undefined ? { constant: { type: 'string', value } } : { problem }
}

/** Characters become their UTF-8 bytes; `\xff` and `\377` are one byte, and code points cannot be escaped. */
function readBytes(text: string): Literal {
  const { content, isRaw } = unquote(text)
  const parts: number[] = []
  let rest = 0
  for (const match of isRaw ? [] : content.matchAll(escapes)) {
    if (/^\\[uU]/.test(match[0])) return { problem: 'unable to unescape string' }
    appendText(parts, content.slice(rest, match.index))
    parts.push(codeOf(match[0]))
    rest = match.index + match[0].length
  }
  appendText(parts, content.slice(rest))
  return { constant: { type: 'bytes', value: Uint8Array.from(parts) } }
}

function appendText(bytes: number[], text: string): void {
  for (const character of text) {
    const unit = character.codePointAt(0) ?? 0
    if (unit < 0x80) bytes.push(unit)
    else if (unit < 0x800) bytes.push(0xc0 | (unit >> 6), 0x80 | (unit & 63))
    else if (unit < 0x10000) bytes.push(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 63), 0x80 | (unit & 63))
    else bytes.push(0xf0 | (unit >> 18), 0x80 | ((unit >> 12) & 63), 0x80 | ((unit >> 6) & 63), 0x80 | (unit & 63))
  }
}

function unquote(text: string): { readonly content: string; readonly isRaw: boolean } {
  const isRaw = text.startsWith('r') || text.startsWith('R')
  const quoted = isRaw ? text.slice(1) : text
  const isTriple = quoted.length >= 6 && (quoted.startsWith('"""') || quoted.startsWith("'''"))
  const width = isTriple ? 3 : 1
  const content = quoted.slice(width, -width)
  return { content: content.includes('\r') ? content.replace(/\r\n?/g, '\n') : content, isRaw }
}

const escapes = /\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|.)/g
const single: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 }

/** The number of an escape: a code point, or in bytes an octet. */
function codeOf(sequence: string): number {
  const sign = sequence.charAt(1)
  if (/[xXuU]/.test(sign)) return Number.parseInt(sequence.slice(2), 16)
  if (/[0-3]/.test(sign)) return Number.parseInt(sequence.slice(1), 8)
  return single[sign] ?? sign.charCodeAt(0)
}
