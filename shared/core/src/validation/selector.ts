import { checkLabelValue, checkQualifiedName, checkSubdomain, type FieldError } from '../meta/index.ts'
import { forbiddenValue, invalidFor, invalidValue, requiredValue } from './field-errors.ts'
import { validateLabels } from './object-meta.ts'
import { itemsOf, optionalPart, type Part, textOf } from './part.ts'

/** Validates a label selector at a path. */
export function validateLabelSelector(selector: Part | undefined, path: string): FieldError[] {
  if (selector === undefined) return []
  const errors = validateLabelMap(selector, 'matchLabels', `${path}.matchLabels`)
  for (const [index, term] of itemsOf(selector, 'matchExpressions').entries()) {
    const at = `${path}.matchExpressions[${index}]`
    errors.push(...validateOperator(term, at), ...validateLabelKey(textOf(term, 'key'), `${at}.key`))
    for (const [position, value] of itemsOf<string>(term, 'values').entries()) {
      errors.push(...invalidFor(`${at}.values[${position}]`, value, checkLabelValue(value)))
    }
  }
  return errors
}

/** Validates a map of labels in a field: a plain selector, or labels to set. */
export function validateLabelMap(parent: Part, name: string, path: string): FieldError[] {
  const errors: FieldError[] = []
  const labels = optionalPart(parent, name)
  if (labels !== undefined) validateLabels(errors, labels as Readonly<Record<string, string>>, path)
  return errors
}

/** Validates a required label key. */
export function validateLabelKey(key: string, field: string): FieldError[] {
  return invalidFor(field, key, checkQualifiedName(key))
}

/** Validates a node selector term, all of whose requirements must match. Values may be restricted to label values. */
export function validateNodeSelectorTerm(term: Part, path: string, checksValues = false): FieldError[] {
  return [
    ...itemsOf(term, 'matchExpressions').flatMap((requirement, index) => {
      const at = `${path}.matchExpressions[${index}]`
      const errors = [...validateNodeOperator(requirement, at), ...validateLabelKey(textOf(requirement, 'key'), `${at}.key`)]
      return checksValues ? [...errors, ...validateLabelValues(requirement, `${at}.values`)] : errors
    }),
    ...itemsOf(term, 'matchFields').flatMap((requirement, index) => validateFieldRequirement(requirement, `${path}.matchFields[${index}]`)),
  ]
}

function validateLabelValues(requirement: Part, path: string): FieldError[] {
  return itemsOf<string>(requirement, 'values').flatMap((value, index) => invalidFor(`${path}[${index}]`, value, checkLabelValue(value)))
}

function validateOperator(term: Part, at: string): FieldError[] {
  const operator = textOf(term, 'operator')
  const values = itemsOf(term, 'values')
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length === 0 ? [requiredValue(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'")] : []
    case 'Exists':
    case 'DoesNotExist':
      return values.length > 0 ? [forbiddenValue(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")] : []
    default:
      return [invalidValue(`${at}.operator`, operator, 'not a valid selector operator')]
  }
}

function validateNodeOperator(requirement: Part, at: string): FieldError[] {
  const operator = textOf(requirement, 'operator')
  if (operator !== 'Gt' && operator !== 'Lt') return validateOperator(requirement, at)
  if (itemsOf(requirement, 'values').length === 1) return []
  return [requiredValue(`${at}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")]
}

/** The only selectable field of a node is its name. */
function validateFieldRequirement(requirement: Part, at: string): FieldError[] {
  const errors: FieldError[] = []
  const operator = textOf(requirement, 'operator')
  const values = itemsOf<string>(requirement, 'values')
  if (operator !== 'In' && operator !== 'NotIn') errors.push(invalidValue(`${at}.operator`, operator, 'not a valid selector operator'))
  else if (values.length !== 1) {
    errors.push(requiredValue(`${at}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
  }
  const key = textOf(requirement, 'key')
  if (key !== 'metadata.name') return [...errors, invalidValue(`${at}.key`, key, 'not a valid field selector key')]
  for (const [index, value] of values.entries()) errors.push(...invalidFor(`${at}.values[${index}]`, value, checkSubdomain(value)))
  return errors
}
