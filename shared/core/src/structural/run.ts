import type { FieldError } from '../meta/status.ts'

/** The state of validating one value: the current path, and the errors. */
export interface Run {
  readonly names: (string | number)[]
  errors: FieldError[]
}
