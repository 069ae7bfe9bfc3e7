import type { FieldError } from '../../../meta/status.ts'
import { invalidValue } from '../../../validation/field-errors.ts'
import { textOf } from '../../../validation/part.ts'
import type { PartRule } from '../../../validation/rule-book.ts'

/** Makes a rule for the path in a field. */
export function pathIn(field: string, check: (errors: FieldError[], target: string, path: string) => void): PartRule {
  return (errors, part, at) => check(errors, textOf(part, field), `${at}.${field}`)
}

/** Checks that a path stays within its base. */
export function validateDescendingPath(errors: FieldError[], target: string, path: string): void {
  if (target.startsWith('/')) errors.push(invalidValue(path, target, 'must be a relative path'))
  refuseBacksteps(errors, target, path)
}

/** Checks that a path stays within its base, and does not use names that the node reserves. */
export function validateFilePath(errors: FieldError[], target: string, path: string): void {
  validateDescendingPath(errors, target, path)
  // The name `..` was already refused above.
  if (target.startsWith('..') && !target.startsWith('../')) errors.push(invalidValue(path, target, "must not start with '..'"))
}

/** Checks that a path has no `..` step. */
export function refuseBacksteps(errors: FieldError[], target: string, path: string): void {
  if (target.split('/').includes('..')) errors.push(invalidValue(path, target, "must not contain '..'"))
}
