import { type FieldError, invalid } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import { goValue, list, string, unsupportedValue } from '@orch/core/schema'
import { validateFieldManager } from '@orch/core/validation'
import { type GatewayRequest, queryBoolean } from '../request/index.ts'
import type { Surroundings } from '../surroundings.ts'

/** The dependencies of reading the options of a write. */
export interface OptionsParts extends Pick<Surroundings, 'names' | 'level'> {
  /** With it off, unknown and duplicate fields are dropped without a warning. */
  readonly fieldValidation: boolean
}

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

/** The meaning of a write's options. */
export interface WriteOptions {
  readonly isDryRun: boolean
  /** '': the writer names none. */
  readonly fieldManager: string
  readonly fieldValidation: FieldValidation
  /** True if an apply takes fields from their owners. */
  readonly isForced: boolean
}

export type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions'

const ordinary: Readonly<Record<FieldValidation, WriteOptions>> = {
  Ignore: { isDryRun: false, fieldManager: '', fieldValidation: 'Ignore', isForced: false },
  Warn: { isDryRun: false, fieldManager: '', fieldValidation: 'Warn', isForced: false },
  Strict: { isDryRun: false, fieldManager: '', fieldValidation: 'Strict', isForced: false },
}

/** Parses `dryRun`, `fieldManager` and `fieldValidation`; all errors are reported at once. */
export function writeOptionsOf(
  { query }: GatewayRequest,
  parts: OptionsParts,
  kind: OptionsKind,
  { isApply }: { isApply: boolean } = { isApply: false },
): WriteOptions {
  const isValidating = parts.fieldValidation
  const fallback: FieldValidation = isValidating ? 'Warn' : 'Ignore'
  if (query.isEmpty && !isApply) return ordinary[fallback]
  const errors: FieldError[] = []
  const dryRuns = query.all('dryRun')
  const fieldManager = query.get('fieldManager') ?? ''
  const validation = query.get('fieldValidation') ?? ''
  if (isApply && fieldManager === '') {
    errors.push({ reason: 'FieldValueRequired', field: 'fieldManager', message: 'Required value: is required for apply patch' })
  }
  const force = query.get('force')
  if (kind === 'PatchOptions' && !isApply && force !== undefined) {
    errors.push({ reason: 'FieldValueForbidden', field: 'force', message: 'Forbidden: may not be specified for non-apply patch' })
  }
  validateFieldManager(errors, fieldManager, 'fieldManager')
  checkDryRun(errors, dryRuns)
  if (validation !== '' && !isFieldValidation(validation)) {
    errors.push(unsupportedValue('fieldValidation', validation, ['', 'Ignore', 'Strict', 'Warn']))
  }
  if (errors.length > 0) throw invalidOptions(parts, kind, errors)
  const fieldValidation = isValidating && isFieldValidation(validation) ? validation : fallback
  const isForced = force !== undefined && queryBoolean(query, 'force')
  return { isDryRun: dryRuns.length > 0, fieldManager, fieldValidation, isForced }
}

/** The 422 of bad options. */
export function invalidOptions(
  { names, level }: Pick<OptionsParts, 'names' | 'level'>,
  kind: string,
  errors: readonly FieldError[],
): Error {
  return invalid({ group: domainGroup(names, 'meta'), kind }, '', errors, level)
}

/** The only valid value is `All`; an empty value differs from an absent one. */
export function checkDryRun(errors: FieldError[], values: readonly string[]): void {
  if (values.every((value) => value === 'All')) return
  errors.push(unsupportedValue('dryRun', goValue(list(string()), values), ['All']))
}

function isFieldValidation(text: string): text is FieldValidation {
  return text === 'Ignore' || text === 'Warn' || text === 'Strict'
}
