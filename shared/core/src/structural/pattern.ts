import { boundedMemo, getOrMake } from '@orch/cel/memo'
import { CelError, compileRegex, testWorkOf, weightOfRegex } from '@orch/cel/values'
import type { Steps } from '../steps.ts'

/** Number of cached patterns, enough for several hundred schemas. */
const keptMax = 2_000

/** Compiles a pattern in Go's syntax, which matches any part of a text. An error, in Go's words, if it is malformed. */
export const parsePattern = boundedMemo(keptMax, compileRegex, weightOfRegex)

/** Work of one step of tests, in units of a pattern's weight: about 10 ms, of which compiling takes most. */
const stepWork = 20_000
/** The work of tests, as counted by `testWorkOf`, that is one such unit. */
const testWorkPerWeight = 200

/** The tests of patterns in one validation. Those that do not fit into a first step are put off, and then made in steps. */
export class PatternTests {
  /** Outcomes of tests that were put off, by pattern and text. */
  readonly #outcomes = new Map<string, Map<string, boolean | string>>()
  readonly #used = new Set<string>()
  #pending: (readonly [pattern: string, text: string])[] = []
  #room = stepWork

  /** True if the text matches, or the reason why it cannot be tested. A test that is put off counts as false until it is made. */
  test(pattern: string, text: string): boolean | string {
    const known = this.#outcomes.get(pattern)?.get(text)
    if (known !== undefined) return known
    if (this.#room > 0) return this.#test(pattern, text)
    this.#pending.push([pattern, text])
    return false
  }

  /** Makes the tests that were put off; false if there are none. */
  *makePending(): Steps<boolean> {
    const pending = this.#pending.splice(0)
    for (const [pattern, text] of pending) {
      if (this.#room <= 0) {
        yield
        this.#room = stepWork
      }
      const outcomes = getOrMake(this.#outcomes, pattern, () => new Map<string, boolean | string>())
      if (!outcomes.has(text)) outcomes.set(text, this.#test(pattern, text))
    }
    this.#room = stepWork
    return pending.length > 0
  }

  #test(pattern: string, text: string): boolean | string {
    const regex = parsePattern(pattern)
    if (!this.#used.has(pattern)) this.#room -= weightOfRegex(pattern, regex)
    this.#used.add(pattern)
    if (regex instanceof CelError) return `pattern is invalid: ${regex.message}`
    const work = testWorkOf(regex, text)
    if (work instanceof CelError) return work.message
    this.#room -= work / testWorkPerWeight
    return regex.test(text)
  }
}
