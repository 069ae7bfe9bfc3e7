import { boundedMemo } from '@orch/cel/memo'
import { CelError, compileRegex, weightOfRegex } from '@orch/cel/values'

/** A compiled pattern, which matches any part of a text, or the reason why the pattern is invalid, in Go's words. */
export type Pattern =
  | { readonly kind: 'pattern'; readonly test: (text: string) => boolean; readonly weight: number }
  | { readonly kind: 'malformed'; readonly problem: string }

/** Number of cached patterns, enough for several hundred schemas. */
const keptMax = 2_000

/** Compiles a pattern in Go's syntax, which matches in time linear in the text. */
export const parsePattern = boundedMemo(
  keptMax,
  (text: string): Pattern => {
    const regex = compileRegex(text)
    if (regex instanceof CelError) return { kind: 'malformed', problem: regex.message }
    return { kind: 'pattern', test: (value) => regex.test(value), weight: weightOfRegex(text, regex) }
  },
  (text, pattern) => (pattern.kind === 'pattern' ? pattern.weight : text.length),
)
