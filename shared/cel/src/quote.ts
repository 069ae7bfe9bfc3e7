/** The short escapes of Go's string literals, by character. */
export const escapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

const special = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|["\\]/gu

/** Characters of which JSON and Go print the same, JSON faster. */
const plain = /^[ -~\b\f\n\r\t]*$/

/** A text as Go's `%q` prints it: unprintable characters are escaped, others are unchanged. */
export function quote(text: string): string {
  return plain.test(text) ? JSON.stringify(text) : `"${text.replace(special, escaped)}"`
}

function escaped(character: string): string {
  const short = escapes[character]
  if (short !== undefined) return short
  const code = character.codePointAt(0) ?? 0
  const hex = code.toString(16)
  if (code < 0x80) return `\\x${hex.padStart(2, '0')}`
  // A lone surrogate has no UTF-8 form; Go reads it as the replacement character.
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd'
  return code < 0x1_0000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}
