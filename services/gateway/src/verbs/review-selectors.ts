import { checkLabelValue, checkQualifiedName, type FieldError } from '@orch/core/meta'
import { forbiddenValue, invalidValue, requiredValue } from '@orch/core/schema'
import { parseFieldSelector, parseLabelSelector } from '@orch/core/selectors'

/** One term of a selector. */
interface Requirement {
  readonly key?: string
  readonly operator?: string
  readonly values?: readonly string[]
}

/** A selector of a review: as in a query, or term by term. */
interface SelectorAttributes {
  readonly rawSelector?: string
  readonly requirements?: readonly Requirement[]
}

/** The selectors of a resource access. */
export interface SelectingAttributes {
  readonly fieldSelector?: SelectorAttributes
  readonly labelSelector?: SelectorAttributes
}

/** The rules of the selectors of a review. Unknown operators are accepted: terms with them are omitted. */
export function validateSelectors({ fieldSelector, labelSelector }: SelectingAttributes, path: string): FieldError[] {
  return [
    ...validateSelector(fieldSelector, `${path}.fieldSelector`, (term, at) => [
      ...(term.key ? [] : [requiredValue(`${at}.key`, 'must be specified')]),
      ...validateValues(term, at),
    ]),
    ...validateSelector(labelSelector, `${path}.labelSelector`, (term, at) => [
      ...validateValues(term, at),
      ...checkQualifiedName(term.key ?? '').map((problem) => invalidValue(`${at}.key`, term.key ?? '', problem)),
      ...(term.values ?? []).flatMap((value, index) =>
        checkLabelValue(value).map((problem) => invalidValue(`${at}.values[${index}]`, value, problem)),
      ),
    ]),
  ]
}

function validateSelector(
  selector: SelectorAttributes | undefined,
  path: string,
  checkTerm: (term: Requirement, at: string) => FieldError[],
): FieldError[] {
  if (selector === undefined) return []
  const { rawSelector = '', requirements = [] } = selector
  const errors: FieldError[] = []
  if (rawSelector !== '' && requirements.length > 0) {
    errors.push(invalidValue(`${path}.rawSelector`, rawSelector, 'may not specified at the same time as requirements'))
  }
  if (rawSelector === '' && requirements.length === 0) {
    errors.push(requiredValue(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`))
  }
  for (const [index, term] of requirements.entries()) {
    const at = `${path}.requirements[${index}]`
    errors.push(...checkTerm(term, at))
  }
  return errors
}

function validateValues({ operator, values = [] }: Requirement, at: string): FieldError[] {
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    return [requiredValue(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'")]
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    return [forbiddenValue(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
  }
  return []
}

/** Parses the selectors of a review. An omitted term makes the access wider. */
export function selectorsOf({ fieldSelector, labelSelector }: SelectingAttributes) {
  const field = textOf(fieldSelector, (text) => parseFieldSelector(text).kind !== 'malformed', fieldTerm)
  const label = textOf(labelSelector, (text) => parseLabelSelector(text).kind !== 'malformed', labelTerm)
  const errors = [...problemOf(field, 'fieldSelector'), ...problemOf(label, 'labelSelector')]
  if (field.text === '' && label.text === '') return { errors }
  return {
    /** Undefined for all objects. */
    selectors: { field: field.text, label: label.text },
    errors,
  }
}

interface Read {
  readonly text: string
  readonly isWhole: boolean
}

function problemOf({ text, isWhole }: Read, name: string): string[] {
  if (isWhole) return []
  return [`spec.resourceAttributes.${name} ${text === '' ? '' : 'partially '}ignored due to parse error`]
}

function textOf(
  { rawSelector = '', requirements = [] }: SelectorAttributes = {},
  isSelector: (text: string) => boolean,
  termOf: (term: Requirement) => string | undefined,
): Read {
  if (requirements.length === 0) {
    const isWhole = isSelector(rawSelector)
    return { text: isWhole ? rawSelector : '', isWhole }
  }
  const terms = requirements.map(termOf).filter((term) => term !== undefined)
  return { text: terms.join(','), isWhole: terms.length === requirements.length }
}

/** Fields are compared with one value. */
function fieldTerm({ key = '', operator, values = [] }: Requirement): string | undefined {
  const [value] = values
  if (value === undefined || values.length > 1) return undefined
  const escaped = value.replace(/[\\,=]/g, '\\$&')
  if (operator === 'In') return `${key}=${escaped}`
  return operator === 'NotIn' ? `${key}!=${escaped}` : undefined
}

function labelTerm({ key = '', operator, values = [] }: Requirement): string | undefined {
  if (operator === 'In') return `${key} in (${values.join(',')})`
  if (operator === 'NotIn') return `${key} notin (${values.join(',')})`
  if (operator === 'Exists') return key
  return operator === 'DoesNotExist' ? `!${key}` : undefined
}
