import { RE2JS } from 're2js'
import { boundedMemo } from '../memo.ts'
import { type Meter, patternsMax } from './meter.ts'
import { CelError } from './values.ts'

/** A pattern in RE2's syntax, which matches in a time linear in the text. */
export interface Regex {
  /** True if any part of the text matches. */
  test(text: string): boolean
  /** The first part that matches. */
  find(text: string): string | undefined
  /** The matching parts, from left to right, up to a limit; all if it is negative. Counts work, since each search may read the rest of the text. */
  findAll(text: string, limit: number, meter: Meter): string[]
  /** Number of instructions. */
  readonly size: number
}

/** Maximum length of a pattern, also with its counted repeats written out: one of this length is compiled in about 30 ms. */
const patternLengthMax = 32_768
/** The number of characters whose compilation takes as long as that of a class of Unicode such as `\pL`, which has hundreds of ranges. */
const unicodeClassLength = 32
/** Bytes of an instruction of a compiled pattern. */
const instructionBytes = 450
/** Maximum bytes of the states that a pattern keeps between tests. */
const stateBytesMax = 200_000

/** Maximum work of one test, in instructions times characters: at worst half a second. */
const testWorkMax = 20_000_000
/** The number of instructions times characters that count as one step of work. */
const testWorkPerStep = 4
/** The same for a search after an earlier match: such a search seldom reads far. */
const searchWorkPerStep = 10

/** The work of compiling a pattern, in steps. */
const compileSteps = 20_000
const compileStepsPerUnit = 200

/** The work of testing a text, in instructions times characters; an error if it exceeds the maximum. */
export function testWorkOf({ size }: Regex, text: string): number | CelError {
  const work = size * text.length
  return work <= testWorkMax ? work : new CelError(`the pattern has ${size} instructions, too many for a text of ${text.length} characters`)
}

/** Counts the work of a test. An error if it exceeds the maximum. */
export function countTest(meter: Meter, regex: Regex, text: string): CelError | undefined {
  const work = testWorkOf(regex, text)
  if (work instanceof CelError) return work
  meter.addWork(work / testWorkPerStep)
  return undefined
}

/** The regex of a pattern that is known only at evaluation. */
export function regexOf(meter: Meter, pattern: string): Regex | CelError {
  meter.addPattern(pattern, compileSteps + pattern.length * compileStepsPerUnit)
  return keptRegex(pattern)
}

/** Like `compileRegex`, with a cache. */
export const keptRegex = boundedMemo(patternsMax, compileRegex, weightOfRegex)

/** The weight of a cached pattern: all of them take up to 100 MB. */
export function weightOfRegex(_pattern: string, regex: Regex | CelError): number {
  return regex instanceof CelError ? regex.message.length : (regex.size * instructionBytes) / 100
}

/** Compiles a pattern; an error in Go's words if the pattern is malformed. */
export function compileRegex(pattern: string): Regex | CelError {
  if (pattern.length > patternLengthMax || lengthWithoutRepeats(pattern) > patternLengthMax)
    return new CelError('error parsing regexp: expression too large')
  try {
    const compiled = RE2JS.compile(pattern)
    return {
      size: compiled.programSize(),
      test: (text) => {
        const matches = compiled.test(text)
        const { lazyDFA: states } = compiled.re2()
        if (states !== null && states.stateBudget - states.memBudget > stateBytesMax) states.clearCache()
        return matches
      },
      find: (text) => {
        const matcher = compiled.matcher(text)
        return matcher.find() ? (matcher.group() ?? '') : undefined
      },
      findAll: (text, limit, meter) => {
        const found: string[] = []
        const matcher = compiled.matcher(text)
        while (found.length !== limit && matcher.find()) {
          found.push(matcher.group() ?? '')
          meter.addWork((compiled.programSize() * (text.length - matcher.end())) / searchWorkPerStep)
        }
        return found
      },
    }
  } catch (error) {
    return new CelError(error instanceof Error ? error.message : `error parsing regexp: ${pattern}`)
  }
}

/** An escape, a class of characters, a counted repeat with its counts, or one character. */
const token = /\\[pPx]\{[^}]*\}?|\\.?|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]])*\]?|\{(\d{1,4})(?:,(\d{0,4}))?\}|./gs

/** An upper bound of the length of a pattern in which `x{3}` is written as `xxx`; group by group, in one pass. */
function lengthWithoutRepeats(pattern: string): number {
  const before: number[] = []
  let length = 0
  let last = 0
  for (const [text, least, most] of pattern.matchAll(token)) {
    if (least !== undefined) {
      const count = Math.max(1, Number(least), Number(most ?? 0))
      length += last * (count - 1)
      last *= count
    } else if (text === '(') {
      before.push(length)
      length = 0
    } else if (text === ')') {
      last = length + 1
      length = (before.pop() ?? 0) + last
    } else if (!'*+?'.includes(text)) {
      last = text.length === 1 ? 1 : 1 + unicodeClassLength * (text.match(/\\p/gi)?.length ?? 0)
      length += last
    }
  }
  return before.reduce((sum, outer) => sum + outer, length)
}
