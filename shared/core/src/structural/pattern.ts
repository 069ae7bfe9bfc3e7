import { boundedMemo } from '@orch/cel/memo'
import { CelError, compileRegex } from '@orch/cel/values'

/** Tests whether a text has a part that matches a pattern, or gives the reason why the pattern is none, in the words of Go. */
export type Pattern =
  | { readonly kind: 'pattern'; readonly test: (text: string) => boolean }
  | { readonly kind: 'malformed'; readonly problem: string }

/** Patterns that are kept: as many as some hundred schemas have. */
const keptMax = 2_000

/** A pattern of a schema in Go's syntax, which matches in a time linear in the text. */
export const parsePattern: (text: string) => Pattern = boundedMemo(keptMax, (text) => {
  const regex = compileRegex(text)
  if (regex instanceof CelError) return { kind: 'malformed', problem: regex.message }
  return { kind: 'pattern', test: (value) => regex.test(value) }
})
