import { RE2JS } from 're2js'
import { boundedMemo, lazily } from '../memo.ts'
import { type Meter, patternsMax } from './meter.ts'
import { CelError } from './values.ts'

/** A pattern in RE2's syntax. Each use counts the work of its automaton, and throws WorkExceeded. */
export interface Regex {
  /** True if any part of the text matches. */
  test(text: string, meter: Meter): boolean
  /** The matching parts, from left to right, up to a limit; all if it is negative. */
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

/** The work of a new state of the automaton, and of each of its instructions. */
const stateSteps = 50
const stateStepsPerInstruction = 15
/** The work of one character for the backtracking search of short texts. */
const searchSteps = 4

/** The work of compiling a pattern, in steps. */
const compileSteps = 20_000
const compileStepsPerUnit = 200

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
    return countedRegex(RE2JS.compile(pattern))
  } catch (error) {
    return new CelError(error instanceof Error ? error.message : `error parsing regexp: ${pattern}`)
  }
}

/**
 * A pattern whose automaton counts its work: a test builds states when it first needs them, and then takes one step per character. A pattern
 * with too many states, and each search for a part, runs all instructions for each character.
 */
function countedRegex(compiled: RE2JS): Regex {
  const size = compiled.programSize()
  const automaton = compiled.re2()
  const { executeEngine, doExecuteNFA } = automaton
  let meter: Meter | undefined
  const count = <T>(present: Meter, use: () => T): T => {
    meter = present
    try {
      return use()
    } finally {
      meter = undefined
    }
  }
  const countSteps = (input: { step: (at: number) => number }, steps: number): void => {
    const { step } = input
    input.step = (at) => {
      meter?.addWork(steps)
      return step.call(input, at)
    }
  }
  const countStates = lazily(() => {
    const states = automaton.dfa
    const { getState } = states
    states.getState = (instructions, flag, ids) => {
      meter?.addWork(stateSteps + stateStepsPerInstruction * instructions.length)
      return getState.call(states, instructions, flag, ids)
    }
    return states
  })
  // Nothing counts its searches for the words of the pattern.
  automaton.prefilter = null
  automaton.executeEngine = (input, at, anchor, captures) => {
    if (captures > 0) {
      countSteps(input, automaton.onepass === null ? searchSteps : size)
      return executeEngine.call(automaton, input, at, anchor, captures)
    }
    const states = countStates()
    try {
      const matches: boolean | null = states.match(input, at, anchor)
      return matches === null ? automaton.doExecuteNFA(input, at, anchor, 0) : matches ? [] : null
    } finally {
      if (states.stateBudget - states.memBudget > stateBytesMax) states.clearCache()
    }
  }
  automaton.doExecuteNFA = (input, at, anchor, captures) => {
    countSteps(input, size)
    return doExecuteNFA.call(automaton, input, at, anchor, captures)
  }
  const test = (text: string, present: Meter): boolean =>
    count(present, () => {
      present.addWork(text.length)
      return compiled.test(text)
    })
  const findAll = (text: string, limit: number, present: Meter): string[] => {
    const matcher = test(text, present) ? compiled.matcher(text) : undefined
    const found: string[] = []
    return count(present, () => {
      while (found.length !== limit && matcher?.find() === true) {
        found.push(matcher.group() ?? '')
        present.addWork(stateSteps)
      }
      return found
    })
  }
  return { size, test, findAll }
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
