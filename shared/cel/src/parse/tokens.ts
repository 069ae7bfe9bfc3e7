export type TokenKind = 'punctuation' | 'ident' | 'escapedIdent' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'end'

/** A piece of the text; its offsets are in UTF-16 units. */
export interface Token {
  readonly kind: TokenKind
  /** The text as written; `<EOF>` at the end. */
  readonly text: string
  readonly start: number
}
