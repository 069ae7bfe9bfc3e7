import { boundedMemo, getOrMake } from '@orch/cel/memo'
import { CelError, compileRegex, Meter, WorkExceeded, weightOfRegex } from '@orch/cel/values'
import type { Steps } from '../steps.ts'

/** Number of cached patterns, enough for several hundred schemas. */
const keptMax = 2_000

/** Compiles a pattern in Go's syntax, which matches any part of a text. An error, in Go's words, if it is malformed. */
export const parsePattern = boundedMemo(keptMax, compileRegex, weightOfRegex)

/** Work of one step of tests, in steps of a meter: about 10 ms. */
const stepWork = 1_000_000
/** Maximum work of one step: of its last test. */
const testWorkMax = 8_000_000
/** The work of compiling a pattern, by its weight. */
const workPerWeight = 50

/** The tests of patterns in one validation. Those that do not fit into a first step are put off, and then made in steps. */
export class PatternTests {
  /** Outcomes of tests that were put off, by pattern and text. */
  readonly #outcomes = new Map<string, Map<string, boolean | string>>()
  #pending: (readonly [pattern: string, text: string])[] = []
  #meter = new Meter(testWorkMax)

  /** True if the text matches, or the reason why it cannot be tested. A test that is put off counts as false until it is made. */
  test(pattern: string, text: string): boolean | string {
    const known = this.#outcomes.get(pattern)?.get(text)
    if (known !== undefined) return known
    if (this.#meter.work < stepWork) return this.#test(pattern, text)
    this.#pending.push([pattern, text])
    return false
  }

  /** Makes the tests that were put off; false if there are none. */
  *makePending(): Steps<boolean> {
    const pending = this.#pending.splice(0)
    for (const [pattern, text] of pending) {
      if (this.#meter.work >= stepWork) {
        yield
        this.#meter = new Meter(testWorkMax)
      }
      const outcomes = getOrMake(this.#outcomes, pattern, () => new Map<string, boolean | string>())
      if (!outcomes.has(text)) outcomes.set(text, this.#test(pattern, text))
    }
    this.#meter = new Meter(testWorkMax)
    return pending.length > 0
  }

  #test(pattern: string, text: string): boolean | string {
    const regex = parsePattern(pattern)
    this.#meter.addPattern(pattern, Math.min(stepWork, workPerWeight * weightOfRegex(pattern, regex)))
    if (regex instanceof CelError) return `pattern is invalid: ${regex.message}`
    try {
      return regex.test(text, this.#meter)
    } catch (error) {
      if (!(error instanceof WorkExceeded)) throw error
      return `the pattern takes too many steps for a text of ${text.length} characters`
    }
  }
}
