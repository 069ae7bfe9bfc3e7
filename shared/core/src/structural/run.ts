import type { FieldError } from '../meta/status.ts'

/** One validation of a value: its position, and its findings. */
export interface Run {
  readonly names: (string | number)[]
  errors: FieldError[]
}
