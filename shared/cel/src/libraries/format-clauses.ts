/** The error of a format text, or of an argument for one of its clauses. */
export class FormatRefused extends Error {}

export type ClauseLetter = 's' | 'd' | 'f' | 'e' | 'b' | 'o' | 'x' | 'X'

export const precisionDefault = 6

interface ClauseRule {
  /** The kinds of types that a clause can print. */
  readonly kinds: ReadonlySet<string>
  readonly expectation: string
}

const doubles = new Set(['double', 'string'])
const integers = new Set(['int', 'uint'])
const hexadecimal: ClauseRule = {
  kinds: new Set(['int', 'uint', 'string', 'bytes']),
  expectation: 'only integers, byte buffers, and strings can be formatted as hex',
}

const rules: Readonly<Record<ClauseLetter, ClauseRule>> = {
  s: {
    kinds: new Set(['list', 'map', 'int', 'uint', 'double', 'bool', 'string', 'timestamp', 'bytes', 'duration', 'type', 'null']),
    expectation: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  },
  d: { kinds: integers, expectation: 'decimal clause can only be used on integers' },
  f: { kinds: doubles, expectation: 'fixed-point clause can only be used on doubles' },
  e: { kinds: doubles, expectation: 'scientific clause can only be used on doubles' },
  b: { kinds: new Set(['int', 'uint', 'bool']), expectation: 'only integers and bools can be formatted as binary' },
  o: { kinds: integers, expectation: 'octal clause can only be used on integers' },
  x: hexadecimal,
  X: hexadecimal,
}

/** True if a clause can print values of types of this kind. */
export function canPrint(letter: ClauseLetter, kind: string): boolean {
  return rules[letter].kinds.has(kind)
}

/** The message about an argument that a clause cannot print. */
export function wrongArgument(letter: ClauseLetter, typeName: string): string {
  return `error during formatting: ${rules[letter].expectation}, was given ${typeName}`
}

interface ClauseVisitor {
  text?(piece: string): void
  clause(letter: ClauseLetter, index: number, precision: number): void
}

/** Visits the clauses of a format text for `count` arguments, and returns the number of clauses. */
export function visitClauses(text: string, count: number, visitor: ClauseVisitor): number {
  let used = 0
  let at = 0
  for (;;) {
    const percent = text.indexOf('%', at)
    visitor.text?.(text.slice(at, percent < 0 ? text.length : percent))
    if (percent < 0) return used
    if (text[percent + 1] === '%') {
      visitor.text?.('%')
      at = percent + 2
      continue
    }
    if (used >= count) throw new FormatRefused(`index ${used} out of range`)
    const { letter, precision, length } = parseClause(text, percent + 1)
    visitor.clause(letter, used, precision)
    used++
    at = percent + 1 + length
  }
}

function parseClause(text: string, from: number): { readonly letter: ClauseLetter; readonly precision: number; readonly length: number } {
  const problem = 'could not parse formatting clause'
  const clause = /\.?(\d*)(.?)/suy
  clause.lastIndex = from
  const [whole = '', digits = '', letter = ''] = clause.exec(text) ?? []
  if (whole === '') throw new FormatRefused('unexpected end of string')
  if (!whole.startsWith('.') && digits !== '') throw new FormatRefused(`${problem}: unrecognized formatting clause "${digits[0]}"`)
  if (letter === '') throw new FormatRefused(`${problem}: error while parsing precision: could not find end of precision specifier`)
  const precision = whole.startsWith('.') ? parsePrecision(digits, problem) : precisionDefault
  if (!isLetter(letter)) throw new FormatRefused(`${problem}: unrecognized formatting clause "${letter}"`)
  return { letter, precision, length: whole.length }
}

const int64Max = 2 ** 63

function parsePrecision(digits: string, problem: string): number {
  const precision = Number(digits)
  const fault = digits === '' ? 'invalid syntax' : precision >= int64Max ? 'value out of range' : undefined
  if (fault === undefined) return precision
  const conversion = 'error while parsing precision: error while converting precision to integer'
  throw new FormatRefused(`${problem}: ${conversion}: strconv.Atoi: parsing ${JSON.stringify(digits)}: ${fault}`)
}

function isLetter(text: string): text is ClauseLetter {
  return Object.hasOwn(rules, text)
}
