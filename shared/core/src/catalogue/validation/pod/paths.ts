import type { FieldError } from '../../../meta/status.ts'
import { invalidValue } from '../../../validation/field-errors.ts'
import { textOf } from '../../../validation/part.ts'
import type { PartRule } from '../../../validation/rule-book.ts'

type PathCheck = (errors: FieldError[], target: string, path: string) => void

/** A rule about the path in a field. */
export function pathIn(field: string, check: PathCheck): PartRule {
  return (errors, part, at) => check(errors, textOf(part, field), `${at}.${field}`)
}

/** A path that stays below where it starts. */
export function validateDescendingPath(errors: FieldError[], target: string, path: string): void {
  if (target.startsWith('/')) errors.push(invalidValue(path, target, 'must be a relative path'))
  refuseBacksteps(errors, target, path)
}

/** A path that stays below where it starts, and out of the names that the node keeps for itself. */
export function validateFilePath(errors: FieldError[], target: string, path: string): void {
  validateDescendingPath(errors, target, path)
  // A name of only two dots has been refused above.
  if (target.startsWith('..') && !target.startsWith('../')) errors.push(invalidValue(path, target, "must not start with '..'"))
}

/** A path that does not climb. */
export function refuseBacksteps(errors: FieldError[], target: string, path: string): void {
  if (target.split('/').includes('..')) errors.push(invalidValue(path, target, "must not contain '..'"))
}
