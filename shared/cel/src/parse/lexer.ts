import type { Issue } from './source.ts'
import type { Token, TokenKind } from './tokens.ts'

const escapeSequence = String.raw`\\(?:[abfnrtv\\?"'${'`'}]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})`
const plainText = [
  `"""(?:${escapeSequence}|[^\\\\])*?"""`,
  `'''(?:${escapeSequence}|[^\\\\])*?'''`,
  `"(?:${escapeSequence}|[^\\\\"\\n\\r])*"`,
  `'(?:${escapeSequence}|[^\\\\'\\n\\r])*'`,
].join('|')
const rawText = `[rR](?:"""[^]*?"""|'''[^]*?'''|"[^"\\n\\r]*"|'[^'\\n\\r]*')`
const string = `(?:${rawText}|${plainText})`

/** A kind of token and its pattern. */
interface Lexeme {
  readonly kind: TokenKind | 'space'
  readonly pattern: RegExp
}

const space: Lexeme = { kind: 'space', pattern: /(?:[\t \r\n\f]+|\/\/[^\n]*)+/y }
const bytes: Lexeme = { kind: 'bytes', pattern: new RegExp(`[bB]${string}`, 'y') }
const texts: Lexeme = { kind: 'string', pattern: new RegExp(string, 'y') }
const double: Lexeme = { kind: 'double', pattern: /[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?/y }
const uint: Lexeme = { kind: 'uint', pattern: /(?:0x[0-9a-fA-F]+|[0-9]+)[uU]/y }
const int: Lexeme = { kind: 'int', pattern: /0x[0-9a-fA-F]+|[0-9]+/y }
const ident: Lexeme = { kind: 'ident', pattern: /[a-zA-Z_][a-zA-Z0-9_]*/y }
const escapedIdent: Lexeme = { kind: 'escapedIdent', pattern: /`[a-zA-Z0-9_./ -]+`/y }
const punctuation: Lexeme = { kind: 'punctuation', pattern: /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y }

/** Lexemes by the code of the first character, in the order of trial; the first match is the longest. */
const byFirst: (readonly Lexeme[] | undefined)[] = new Array(128).fill(undefined)
setLexemes('\t \r\n\f', [space])
setLexemes('/', [space, punctuation])
setLexemes('"\'', [texts])
setLexemes('bB', [bytes, ident])
setLexemes('rR', [texts, ident])
setLexemes('0123456789', [double, uint, int])
setLexemes('.', [double, punctuation])
setLexemes('acdefghijklmnopqstuvwxyzACDEFGHIJKLMNOPQSTUVWXYZ_', [ident])
setLexemes('`', [escapedIdent])
setLexemes('=!<>&|[]{}(),-?:+*%', [punctuation])

function setLexemes(characters: string, lexemes: readonly Lexeme[]): void {
  for (const character of characters) byFirst[character.charCodeAt(0)] = lexemes
}

/** The tokens of a text, the last one marking its end, and issues about other characters. */
export interface Scanned {
  readonly tokens: readonly Token[]
  readonly issues: readonly Issue[]
}

/** UTF-16 units that are scanned between two pauses. */
const unitsPerStep = 25_000

/** Divides a text into tokens. */
export function scan(text: string): Scanned {
  const scanner = new Scanner(text)
  scanner.scanTo(text.length)
  return scanner.finish()
}

/** As `scan`, with pauses. */
export function* scanInSteps(text: string, step = unitsPerStep): Generator<undefined, Scanned, undefined> {
  const scanner = new Scanner(text)
  for (let end = step; end < text.length; end += step) {
    scanner.scanTo(end)
    yield
  }
  scanner.scanTo(text.length)
  return scanner.finish()
}

class Scanner {
  readonly #text: string
  readonly #tokens: Token[] = []
  readonly #issues: Issue[] = []
  #start = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Reads the tokens that begin before an offset. */
  scanTo(end: number): void {
    while (this.#start < end) this.#start = this.#next(this.#text, this.#start)
  }

  finish(): Scanned {
    this.#tokens.push({ kind: 'end', text: '<EOF>', start: this.#text.length })
    return { tokens: this.#tokens, issues: this.#issues }
  }

  /** Reads the token at an offset and returns the offset of the next one. */
  #next(text: string, start: number): number {
    const lexeme = lexemeAt(text, start)
    const end = lexeme === undefined ? start + unknownLength(text, start) : lexeme.pattern.lastIndex
    const found = text.slice(start, end)
    if (lexeme === undefined) {
      this.#issues.push({ offset: start, message: `Syntax error: token recognition error at: '${quoteToken(found)}'` })
    } else if (lexeme.kind !== 'space') {
      this.#tokens.push({ kind: lexeme.kind, text: found, start })
    }
    return end
  }
}

/** The first matching lexeme; its pattern's `lastIndex` is the end of the match. */
function lexemeAt(text: string, start: number): Lexeme | undefined {
  const lexemes = byFirst[text.charCodeAt(start)]
  if (lexemes === undefined) return undefined
  for (const lexeme of lexemes) {
    lexeme.pattern.lastIndex = start
    if (lexeme.pattern.test(text)) return lexeme
  }
  return undefined
}

/** The length of an invalid token: an unclosed text extends to the end of its line, anything else is one character. */
function unknownLength(text: string, start: number): number {
  // An invalid `=`, `&` or `|` includes the next character, as in an operator.
  if (/[=&|]/.test(text.charAt(start))) return Math.min(2, text.length - start)
  if (text[start] !== '"' && text[start] !== "'") return (text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1
  const end = text.indexOf('\n', start)
  return (end < 0 ? text.length : end) - start
}

/** A token as messages show it. */
export function quoteToken(text: string): string {
  return text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
}
