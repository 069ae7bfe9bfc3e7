import type { FieldError } from '../../meta/status.ts'
import { invalidValue, requiredValue } from '../../validation/field-errors.ts'
import type { Part } from '../../validation/part.ts'
import { immutable, isGiven, numberOf } from './checks.ts'

/** A revision is a fixed picture of what its owner was. */
export function validateControllerRevision(revision: Part, live: Part | undefined): FieldError[] {
  const errors: FieldError[] = []
  if (!isGiven(revision, 'data')) errors.push(requiredValue('data', 'data is mandatory'))
  const number = numberOf(revision, 'revision') ?? 0
  if (number < 0) errors.push(invalidValue('revision', number, 'must be greater than or equal to 0'))
  if (live !== undefined) immutable(errors, { part: revision, live, name: 'data', path: 'data' })
  return errors
}
