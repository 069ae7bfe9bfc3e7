import { quoteToken } from './lexer.ts'
import { SyntaxStop } from './stop.ts'
import type { Token } from './tokens.ts'

/** Words that cannot name variables. */
export const reserved = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(' '),
)
export const literals = new Set(['true', 'false', 'null'])
/** Words that cannot name fields either. */
export const keywords = new Set([...literals, 'in'])

/** The optional parts of the grammar. */
interface Extensions {
  readonly optionals: boolean
  readonly escapedFields: boolean
}

/** The tokens with which an expression begins, as cel-go lists them. */
export const startOfExpression =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"

/** The tokens with which the first item of a list or a map begins, or its end. */
export function startOfItems(brackets: string, { optionals }: Extensions): string {
  const rest = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"
  return `{${brackets}, '(', '.', ',', '-', '!', ${optionals ? "'?', " : ''}${rest}}`
}

/** The tokens with which the first field of a struct begins, or its end. */
export function startOfStruct({ optionals, escapedFields }: Extensions): string {
  return `{'}', ',', ${optionals ? "'?', " : ''}IDENTIFIER${escapedFields ? ', ESC_IDENTIFIER' : ''}}`
}

export function isIdentifier({ kind, text }: Token): boolean {
  return kind === 'ident' && !keywords.has(text)
}

/** True if the name of a field may begin with the token. */
export function isFieldStart(token: Token): boolean {
  return (token.kind === 'punctuation' && token.text === '?') || token.kind === 'escapedIdent' || isIdentifier(token)
}

/** True if an item of a list or a map may begin with the token. */
export function isElementStart({ kind, text }: Token): boolean {
  if (kind === 'punctuation') return ['[', '{', '(', '.', '-', '!', '?'].includes(text)
  return kind !== 'end' && kind !== 'escapedIdent' && !(kind === 'ident' && text === 'in')
}

/** The error of a token in the place of another one. */
export function mismatched({ start, text }: Token, expected: string): SyntaxStop {
  return new SyntaxStop(start, `Syntax error: mismatched input '${quoteToken(text)}' expecting ${expected}`)
}

/** The error of an extra token: the expression is valid without it. */
export function extraneous({ start, text }: Token, expected: string): SyntaxStop {
  return new SyntaxStop(start, `Syntax error: extraneous input '${quoteToken(text)}' expecting ${expected}`)
}

/** The error of a token that cannot follow a dot. */
export function notViable(dot: Token, { kind, text, start }: Token): SyntaxStop {
  const blanks = ' '.repeat(Math.max(0, start - dot.start - 1))
  return new SyntaxStop(start, `Syntax error: no viable alternative at input '.${blanks}${kind === 'end' ? '' : quoteToken(text)}'`)
}
