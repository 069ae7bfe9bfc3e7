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

/** Maximum length of a pattern: one of this length is compiled in about 30 ms. */
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
  if (pattern.length > patternLengthMax) return new CelError('error parsing regexp: expression too large')
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
