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

/** Each way a token can begin, in the order in which they are tried; the first that matches is the longest. */
const token = new RegExp(
  [
    String.raw`(?<skipped>[\t \r\n\f]+|//[^\n]*)`,
    `(?<bytes>[bB]${string})`,
    `(?<string>${string})`,
    String.raw`(?<double>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)`,
    '(?<uint>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])',
    '(?<int>0x[0-9a-fA-F]+|[0-9]+)',
    '(?<ident>[a-zA-Z_][a-zA-Z0-9_]*)',
    '(?<escapedIdent>`[a-zA-Z0-9_.\\-/ ]+`)',
    String.raw`(?<punctuation>==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%])`,
  ].join('|'),
  'y',
)

const kinds = ['bytes', 'string', 'double', 'uint', 'int', 'ident', 'escapedIdent', 'punctuation'] as const satisfies readonly TokenKind[]

/** The tokens of a text, of which the last is its end, and what is no token. */
export function scan(text: string): { readonly tokens: readonly Token[]; readonly issues: readonly Issue[] } {
  const tokens: Token[] = []
  const issues: Issue[] = []
  let start = 0
  while (start < text.length) {
    token.lastIndex = start
    const found = token.exec(text)
    const length = found?.[0].length ?? unknownLength(text, start)
    const kind = kinds.find((one) => found?.groups?.[one] !== undefined)
    if (found === null) {
      issues.push({
        offset: start,
        message: `Syntax error: token recognition error at: '${quoteToken(text.slice(start, start + length))}'`,
      })
    } else if (kind !== undefined) {
      tokens.push({ kind, text: found[0], start })
    }
    start += length
  }
  tokens.push({ kind: 'end', text: '<EOF>', start: text.length })
  return { tokens, issues }
}

/** A text that is never closed ends with its line; everything else that is no token is one character. */
function unknownLength(text: string, start: number): number {
  if (text[start] !== '"' && text[start] !== "'") return (text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1
  const end = text.indexOf('\n', start)
  return (end < 0 ? text.length : end) - start
}

/** A token as messages show it. */
export function quoteToken(text: string): string {
  return text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
}
