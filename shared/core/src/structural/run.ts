import type { FieldError } from '../meta/status.ts'

/** One validation of a value: where it is, and what it has found. */
export interface Run {
  readonly names: (string | number)[]
  errors: FieldError[]
}
