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
  /** The matching parts, from left to right, up to a limit; all if it is negative. */
  findAll(text: string, limit: number): string[]
  /** The memory that it takes, in bytes. */
  readonly bytes: number
}

/** Maximum length of a pattern, also with its counted repeats written out: one of this length is compiled in about 30 ms. */
const patternLengthMax = 32_768
/** Bytes of an instruction of a compiled pattern. */
const instructionBytes = 450

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
  return regex instanceof CelError ? regex.message.length : regex.bytes / 100
}

/** Compiles a pattern; an error in Go's words if the pattern is malformed. */
export function compileRegex(pattern: string): Regex | CelError {
  if (pattern.length > patternLengthMax || lengthWithoutRepeats(pattern) > patternLengthMax)
    return new CelError('error parsing regexp: expression too large')
  try {
    const compiled = RE2JS.compile(pattern)
    return {
      bytes: compiled.programSize() * instructionBytes,
      test: (text) => compiled.test(text),
      find: (text) => {
        const matcher = compiled.matcher(text)
        return matcher.find() ? (matcher.group() ?? '') : undefined
      },
      findAll: (text, limit) => {
        const found: string[] = []
        const matcher = compiled.matcher(text)
        while (found.length !== limit && matcher.find()) found.push(matcher.group() ?? '')
        return found
      },
    }
  } catch (error) {
    return new CelError(error instanceof Error ? error.message : `error parsing regexp: ${pattern}`)
  }
}

/** An upper bound of the length of a pattern in which `x{3}` is written as `xxx`; group by group, in one pass. */
function lengthWithoutRepeats(pattern: string): number {
  const before: number[] = []
  let length = 0
  let last = 0
  for (let at = 0; at < pattern.length; ) {
    const repeat = pattern[at] === '{' ? repeatAt(pattern, at) : undefined
    if (repeat !== undefined) {
      length += last * Math.max(0, repeat.count - 1)
      last *= Math.max(1, repeat.count)
      at = repeat.end
      continue
    }
    if (pattern[at] === '(') {
      before.push(length)
      length = 0
    } else if (pattern[at] === ')') {
      last = length + 1
      length = (before.pop() ?? 0) + last
    } else if (!'*+?'.includes(pattern[at] ?? '')) {
      last = 1
      length += 1
    }
    at = endOfAtom(pattern, at)
  }
  return before.reduce((sum, outer) => sum + outer, length)
}

/** The counts of `{2}`, `{2,}` and `{2,5}`. */
const repeatForm = /\{(\d{1,4})(?:,(\d{0,4}))?\}/y

function repeatAt(pattern: string, at: number): { readonly count: number; readonly end: number } | undefined {
  repeatForm.lastIndex = at
  const [text, least, most] = repeatForm.exec(pattern) ?? []
  return text === undefined ? undefined : { count: Math.max(Number(least), Number(most ?? 0)), end: at + text.length }
}

/** The end of an escape, a class of characters or one character. */
function endOfAtom(pattern: string, at: number): number {
  if (pattern[at] === '\\') {
    const isNamed = pattern[at + 2] === '{' && 'pPx'.includes(pattern[at + 1] ?? '')
    return isNamed ? endAfter(pattern, '}', at + 3) : at + 2
  }
  if (pattern[at] !== '[') return at + 1
  let end = pattern.startsWith('[^', at) ? at + 2 : at + 1
  if (pattern[end] === ']') end += 1
  while (end < pattern.length && pattern[end] !== ']') {
    if (pattern.startsWith('[:', end)) end = endAfter(pattern, ':]', end + 2)
    else end += pattern[end] === '\\' ? 2 : 1
  }
  return end + 1
}

function endAfter(pattern: string, text: string, from: number): number {
  const end = pattern.indexOf(text, from)
  return end < 0 ? pattern.length : end + text.length
}
