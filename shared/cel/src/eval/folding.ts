import type { Run } from '../implementation.ts'
import { unlimitedMeter } from '../values/meter.ts'
import { compileRegex, type Regex } from '../values/regex.ts'
import { CelError } from '../values/values.ts'
import { constant, type PlannedPart } from './parts.ts'

/** Thrown where an expression cannot be planned. */
export class Refused extends Error {}

const conversions = new Set(['bool', 'bytes', 'double', 'duration', 'dyn', 'int', 'string', 'timestamp', 'type', 'uint'])

/** The result of a constant conversion; undefined for any other call. A conversion that fails refuses the expression. */
export function foldConversion(name: string, parts: readonly PlannedPart[], run: Run | undefined): PlannedPart | undefined {
  const [only] = parts
  if (!conversions.has(name) || parts.length !== 1 || only?.kind !== 'constant' || run === undefined) return undefined
  const value = run(unlimitedMeter(), only.value)
  if (value instanceof CelError) throw new Refused(value.message)
  return constant(value)
}

const regexFunctions = new Set(['matches', 'find', 'findAll'])

/** The regex of a constant pattern, compiled once; undefined if the pattern is not constant. A malformed pattern refuses the expression. */
export function constantRegex(name: string, pattern: PlannedPart | undefined): Regex | undefined {
  if (!regexFunctions.has(name) || pattern?.kind !== 'constant' || typeof pattern.value !== 'string') return undefined
  const regex = compileRegex(pattern.value)
  if (regex instanceof CelError) throw new Refused(regex.message)
  return regex
}
