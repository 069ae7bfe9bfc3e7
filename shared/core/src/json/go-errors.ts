import { goQuote } from './go-quote.ts'
import { Numeral } from './numeral.ts'
import { wrongBytesStart } from './text.ts'

/**
 * The errors of a text that is not JSON, in the sentences of Go's `encoding/json`: clients know them from other API
 * servers. A sentence names the first wrong byte and the syntax that was being read there.
 */
export function unexpected(text: string, at: number, where: string): string {
  if (at >= text.length) return 'unexpected end of JSON input'
  return `invalid character ${quotedByte(text.codePointAt(at) ?? 0)} ${where}`
}

/** Why no literal begins here, where its first letter begins one. */
export function misspeltWord(text: string, start: number): string | undefined {
  const first = text.charAt(start)
  if (first === '-') return unexpected(text, start + 1, 'in numeric literal')
  const word = first === '' ? undefined : ['true', 'false', 'null'].find((literal) => literal.startsWith(first))
  if (word === undefined) return undefined
  let length = 1
  while (text.charAt(start + length) === word.charAt(length)) length += 1
  return unexpected(text, start + length, `in literal ${word} (expecting '${word.charAt(length)}')`)
}

/** Why the number that ends here cannot end here: a point or an exponent without digits follows. */
export function lacksDigit(text: string, end: number, literal: string): string | undefined {
  const next = text.charAt(end)
  if (next === '.' && !/[.eE]/.test(literal)) return unexpected(text, end + 1, 'after decimal point in numeric literal')
  if (!/[eE]/.test(next) || /[eE]/.test(literal)) return undefined
  const hasSign = /[-+]/.test(text.charAt(end + 1))
  return unexpected(text, end + (hasSign ? 2 : 1), 'in exponent of numeric literal')
}

const plain = /[^"\\\u0000-\u001f]*/y

/** The error of the string that begins here and cannot be read. */
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

/** The value is JSON, but not of the form that the Go type is read from. */
export function cannotUnmarshal(value: unknown, type: string): string {
  return `json: cannot unmarshal ${wordOf(value)} into Go value of type ${type}`
}

function wordOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'bigint' || value instanceof Numeral ? 'number' : typeof value
}

/** The first byte that the character has in UTF-8. Go shows it as if it were a character. */
function quotedByte(codePoint: number): string {
  const isWrongByte = codePoint >= wrongBytesStart && codePoint <= wrongBytesStart + 0xff
  const [byte = 0] = isWrongByte ? [codePoint - wrongBytesStart] : new TextEncoder().encode(String.fromCodePoint(codePoint))
  const character = String.fromCharCode(byte)
  if (character === "'") return "'\\''"
  return character === '"' ? `'"'` : `'${goQuote(character).slice(1, -1)}'`
}
