import { CelError, compileRegex } from '@orch/cel/values'

/** Tests whether a text has a part that matches a pattern, or gives the reason why the pattern is none, in the words of Go. */
export type Pattern =
  | { readonly kind: 'pattern'; readonly test: (text: string) => boolean }
  | { readonly kind: 'malformed'; readonly problem: string }

/** Patterns that are kept: as many as some hundred schemas have. */
const keptMax = 2_000
const kept = new Map<string, Pattern>()

/** A pattern of a schema in Go's syntax, which matches in a time linear in the text. */
export function parsePattern(text: string): Pattern {
  const known = kept.get(text)
  if (known !== undefined) return known
  if (kept.size >= keptMax) kept.clear()
  const pattern = compile(text)
  kept.set(text, pattern)
  return pattern
}

function compile(text: string): Pattern {
  const regex = compileRegex(text)
  if (regex instanceof CelError) return { kind: 'malformed', problem: regex.message }
  return { kind: 'pattern', test: (value) => regex.test(value) }
}
