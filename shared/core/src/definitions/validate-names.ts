import type { FieldError } from '../meta/status.ts'
import { checkLabel1035 } from '../meta/validate-names.ts'
import { invalidValue, requiredValue } from '../validation/field-errors.ts'
import type { DefinitionNames } from './definition-spec.ts'

/** Validates requested or accepted names; they may be absent. */
export function validateDefinitionNames(names: DefinitionNames, at: string): FieldError[] {
  const { kind = '', listKind = '' } = names
  const errors = [...checkOptional(`${at}.plural`, names.plural), ...checkOptional(`${at}.singular`, names.singular)]
  errors.push(...checkMixedCase(`${at}.kind`, kind), ...checkMixedCase(`${at}.listKind`, listKind))
  errors.push(...(names.shortNames ?? []).flatMap((name, index) => checkLabelField(`${at}.shortNames[${index}]`, name)))
  if (kind !== '' && kind === listKind) errors.push(invalidValue(`${at}.listKind`, listKind, 'kind and listKind may not be the same'))
  errors.push(...(names.categories ?? []).flatMap((name, index) => checkLabelField(`${at}.categories[${index}]`, name)))
  return errors
}

/** Requires the names that a definition must have. */
export function requireNames(names: DefinitionNames, at: string): FieldError[] {
  return (['plural', 'singular', 'kind', 'listKind'] as const).flatMap((name) =>
    (names[name] ?? '') === '' ? [requiredValue(`${at}.${name}`)] : [],
  )
}

/** Requires a DNS-1035 label. */
export function checkLabelField(field: string, text: string): FieldError[] {
  const problems = checkLabel1035(text)
  return problems.length === 0 ? [] : [invalidValue(field, text, problems.join(','))]
}

function checkOptional(field: string, text = ''): FieldError[] {
  return text === '' ? [] : checkLabelField(field, text)
}

function checkMixedCase(field: string, text: string): FieldError[] {
  const problems = text === '' ? [] : checkLabel1035(text.toLowerCase())
  if (problems.length === 0) return []
  return [invalidValue(field, text, `may have mixed case, but should otherwise match: ${problems.join(',')}`)]
}
