import type { FieldError } from '../meta/status.ts'
import type { PatternTests } from './pattern.ts'

/** The state of validating one value: the current path, the errors, and the remaining work. */
export interface Run {
  readonly names: (string | number)[]
  errors: FieldError[]
  readonly patterns: PatternTests
  work: number
}

/** Maximum work of one validation, in checks of a value by a schema; texts and errors count by their length. It takes about 50 ms. */
export const workMax = 1_000_000

/** Number of characters of a text or an error that count as one check. */
const charactersPerCheck = 32
/** The least work of an error. It bounds the errors of one validation to a hundred thousand. */
const errorWork = 10

/** A validation needs more work than the maximum. */
export class Overworked extends Error {}

/** Counts checks, and characters of texts that they read. */
export function spend(run: Run, checks: number, characters = 0): void {
  run.work -= checks + characters / charactersPerCheck
  if (run.work < 0) throw new Overworked()
}

/** Adds an error. */
export function report(run: Run, error: FieldError): void {
  run.errors.push(error)
  spend(run, Math.max(errorWork, run.names.length), error.field.length + (typeof error.message === 'string' ? error.message.length : 0))
}
