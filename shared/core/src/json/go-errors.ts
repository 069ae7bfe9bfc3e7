import { goQuote } from './go-quote.ts'
import { Numeral } from './numeral.ts'
import { wrongBytesStart } from './text.ts'

/**
 * The errors of texts that are not JSON, in the words of Go's `encoding/json`, which clients know from other API
 * servers. A message names the first invalid byte and the syntax that was being read.
 */
export function unexpected(text: string, at: number, where: string): string {
  if (at >= text.length) return 'unexpected end of JSON input'
  return `invalid character ${quotedByte(text.codePointAt(at) ?? 0)} ${where}`
}

/** The error of a misspelt literal; undefined if no literal begins here. */
export function misspeltWord(text: string, start: number): string | undefined {
  const first = text.charAt(start)
  if (first === '-') return unexpected(text, start + 1, 'in numeric literal')
  const word = first === '' ? undefined : ['true', 'false', 'null'].find((literal) => literal.startsWith(first))
  if (word === undefined) return undefined
  let length = 1
  while (text.charAt(start + length) === word.charAt(length)) length += 1
  return unexpected(text, start + length, `in literal ${word} (expecting '${word.charAt(length)}')`)
}

/** The error of a number that ends after a point or an exponent without digits. */
export function lacksDigit(text: string, end: number, literal: string): string | undefined {
  const next = text.charAt(end)
  if (next === '.' && !/[.eE]/.test(literal)) return unexpected(text, end + 1, 'after decimal point in numeric literal')
  if (!/[eE]/.test(next) || /[eE]/.test(literal)) return undefined
  const hasSign = /[-+]/.test(text.charAt(end + 1))
  return unexpected(text, end + (hasSign ? 2 : 1), 'in exponent of numeric literal')
}

const plain = /[^"\\\u0000-\u001f]*/y

/** The error of an invalid string that begins here. */
export function wrongInString(text: string, start: number): string {
  let at = start + 1
  for (;;) {
    plain.lastIndex = at
    plain.test(text)
    at = plain.lastIndex
    if (text.charAt(at) !== '\\') return unexpected(text, at, 'in string literal')
    const kind = text.charAt(at + 1)
    at += 2
    if (kind === '' || !'bfnrt\\/"u'.includes(kind)) return unexpected(text, at - 1, 'in string escape code')
    if (kind !== 'u') continue
    for (const end = at + 4; at < end; at += 1) {
      if (!/[\da-fA-F]/.test(text.charAt(at))) return unexpected(text, at, 'in \\u hexadecimal character escape')
    }
  }
}

/** The error of a valid JSON value that does not fit a Go type, alone or as a field of a struct. */
export function cannotUnmarshal(value: unknown, type: string, field?: string): string {
  return `json: cannot unmarshal ${wordOf(value)} into Go ${field === undefined ? 'value' : `struct field ${field}`} of type ${type}`
}

function wordOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'bigint' || value instanceof Numeral ? 'number' : typeof value
}

/** The first UTF-8 byte of a character, which Go prints as if it were a character. */
function quotedByte(codePoint: number): string {
  const isWrongByte = codePoint >= wrongBytesStart && codePoint <= wrongBytesStart + 0xff
  const [byte = 0] = isWrongByte ? [codePoint - wrongBytesStart] : new TextEncoder().encode(String.fromCodePoint(codePoint))
  const character = String.fromCharCode(byte)
  if (character === "'") return "'\\''"
  return character === '"' ? `'"'` : `'${goQuote(character).slice(1, -1)}'`
}
