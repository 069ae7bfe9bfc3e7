import type { FieldError } from '../../meta/status.ts'
import { forbiddenValue, unsupportedValue } from '../../validation/field-errors.ts'

const shared = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce']
/** The first level at which messages also list ReadWriteOncePod. */
const oncePodSince = 27
/** This mode needs a feature; `gated-values.ts` checks that it is on. */
const oncePod = 'ReadWriteOncePod'

/** The errors of a volume's access modes. */
export function validateAccessModes(modes: readonly string[], path: string, level: number): FieldError[] {
  const known = level < oncePodSince ? shared : [...shared, oncePod]
  const errors = modes.filter((mode) => mode !== oncePod && !shared.includes(mode)).map((mode) => unsupportedValue(path, mode, known))
  if (modes.includes(oncePod) && modes.some((mode) => shared.includes(mode))) {
    errors.push(forbiddenValue(path, `may not use ${oncePod} with other access modes`))
  }
  return errors
}
