import { checkLabel, checkSubdomain, type FieldError, type LevelText } from '../../meta/index.ts'
import { invalidFor, invalidValue, requiredValueUntil, tooLongValue } from '../../validation/field-errors.ts'

const domainLengthMax = 253
/** Maximum length of a domain, a slash, a namespace, a dot and a name. */
const signerLengthMax = 253 + 1 + 63 + 1 + 253

/** The errors of a signer's name in a field. */
export function validateSignerName(name: string, field: string): FieldError[] {
  if (name === '') return [requiredValueUntil(25, field, 'signerName must be provided')]
  const [domain = '', path = '', ...rest] = name.split('/')
  if (rest.length > 0 || !name.includes('/')) {
    return [invalidValue(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
  }
  const errors = domain.length > domainLengthMax ? [tooLongValue(field, domainLengthMax)] : []
  const labels = domain.split('.')
  errors.push(...validateFirst(domain, labels, checkLabel, field))
  if (labels.length < 2) errors.push(invalidValue(field, domain, 'should be a domain with at least two segments separated by dots'))
  errors.push(...validateFirst(path, path.split('.'), checkSubdomain, field))
  return name.length > signerLengthMax ? [...errors, tooLongValue(field, signerLengthMax)] : errors
}

/** The errors of the first invalid label. */
function validateFirst(
  whole: string,
  labels: readonly string[],
  check: (label: string) => readonly LevelText[],
  field: string,
): FieldError[] {
  const bad = labels.find((label) => check(label).length > 0)
  if (bad === undefined) return []
  return invalidFor(
    field,
    whole,
    check(bad).map((problem) => `validating label ${JSON.stringify(bad)}: ${problem}`),
  )
}
