import { boundedMemo, getOrMake } from '@orch/cel/memo'
import { CelError, compileRegex, type Regex, testWorkOf, weightOfRegex } from '@orch/cel/values'
import type { Steps } from '../steps.ts'

/** A compiled pattern, which matches any part of a text, or the reason why the pattern is invalid, in Go's words. Its weight is its part of a cache. */
export type Pattern = { readonly weight: number } & (
  | { readonly kind: 'pattern'; readonly regex: Regex }
  | { readonly kind: 'malformed'; readonly problem: string }
)

/** Number of cached patterns, enough for several hundred schemas. */
const keptMax = 2_000

/** Compiles a pattern in Go's syntax, which matches in time linear in the text. */
export const parsePattern = boundedMemo(
  keptMax,
  (text: string): Pattern => {
    const regex = compileRegex(text)
    const weight = weightOfRegex(text, regex)
    if (regex instanceof CelError) return { kind: 'malformed', problem: regex.message, weight }
    return { kind: 'pattern', regex, weight }
  },
  (_text, { weight }) => weight,
)

/** Work of one step of tests, in units of a pattern's weight: about 10 ms, of which compiling takes most. */
const stepWork = 20_000
/** Work of tests, as `testWorkOf` counts it, in one such unit. */
const testWorkPerWeight = 200

/** The tests of patterns in one validation. Those that do not fit into a first step are put off, and then made in steps. */
export class PatternTests {
  /** Outcomes of tests that were put off, by pattern and text. */
  readonly #outcomes = new Map<string, Map<string, boolean | string>>()
  readonly #used = new Set<string>()
  #pending: (readonly [pattern: string, text: string])[] = []
  #room = stepWork

  get arePending(): boolean {
    return this.#pending.length > 0
  }

  /** True if the text matches; a text is the reason why it cannot be tested. A test that is put off counts as false until it is made. */
  test(pattern: string, text: string): boolean | string {
    const known = this.#outcomes.get(pattern)?.get(text)
    if (known !== undefined) return known
    if (this.#room > 0) return this.#test(pattern, text)
    this.#pending.push([pattern, text])
    return false
  }

  /** Makes the tests that were put off. */
  *runPending(): Steps<void> {
    const pending = this.#pending
    this.#pending = []
    for (const [pattern, text] of pending) {
      if (this.#room <= 0) {
        yield
        this.#room = stepWork
      }
      const outcomes = getOrMake(this.#outcomes, pattern, () => new Map<string, boolean | string>())
      if (!outcomes.has(text)) outcomes.set(text, this.#test(pattern, text))
    }
    yield
    this.#room = stepWork
  }

  #test(pattern: string, text: string): boolean | string {
    const parsed = parsePattern(pattern)
    if (!this.#used.has(pattern)) this.#room -= parsed.weight
    this.#used.add(pattern)
    if (parsed.kind === 'malformed') return `pattern is invalid: ${parsed.problem}`
    const work = testWorkOf(parsed.regex, text)
    if (work instanceof CelError) return work.message
    this.#room -= work / testWorkPerWeight
    return parsed.regex.test(text)
  }
}
