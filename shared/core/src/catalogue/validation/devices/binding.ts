import { checkQualifiedName, type FieldError } from '../../../meta/index.ts'
import { goValue, list, string } from '../../../schema/index.ts'
import { duplicateValue, invalidFor, invalidValue, tooManyValues } from '../../../validation/field-errors.ts'
import { itemsOf, type Part, repeatedPlaces } from '../../../validation/part.ts'
import type { RuleContext } from '../../../validation/rule-book.ts'
import { declared } from './device-claim.ts'

const conditionsMax = 4

/** Validates binding conditions and failure conditions: either both are given or neither, and no type is in both. */
export function validateBinding(errors: FieldError[], part: Part, at: string, context: RuleContext): void {
  const [conditions, failures] = [itemsOf<string>(part, 'bindingConditions'), itemsOf<string>(part, 'bindingFailureConditions')]
  for (const [name, types] of Object.entries({ bindingConditions: conditions, bindingFailureConditions: failures })) {
    const field = `${at}.${name}`
    if (types.length > conditionsMax) declared(errors, context).push(tooManyValues(field, types.length, conditionsMax))
    else for (const [place, type] of types.entries()) errors.push(...invalidFor(`${field}[${place}]`, type, checkQualifiedName(type)))
  }
  for (const place of repeatedPlaces(conditions)) errors.push(duplicateValue(`${at}.bindingConditions[${place}]`, conditions[place]))
  const repeated = repeatedPlaces(failures)
  for (const [place, type] of failures.entries()) {
    const field = `${at}.bindingFailureConditions[${place}]`
    if (repeated.has(place)) errors.push(duplicateValue(field, type))
    if (conditions.includes(type))
      errors.push(invalidValue(field, type, 'bindingFailureConditions must not overlap with bindingConditions'))
  }
  const lacks = (name: string, other: string): void => {
    errors.push(invalidValue(`${at}.${name}`, goValue(list(string()), part[name]), `${name} are required to use ${other}`))
  }
  if (conditions.length === 0 && failures.length > 0) lacks('bindingConditions', 'bindingFailureConditions')
  if (failures.length === 0 && conditions.length > 0) lacks('bindingFailureConditions', 'bindingConditions')
}

/** `NodePrepareResources` may be skipped only together with `NodeUnprepareResources`. */
export function validateSkips(errors: FieldError[], part: Part, at: string): void {
  const skipped = itemsOf<string>(part, 'skipNodeOperations')
  if (!skipped.includes('NodePrepareResources') || skipped.includes('NodeUnprepareResources') || skipped.includes('*')) return
  const detail = 'NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped'
  errors.push(invalidValue(`${at}.skipNodeOperations`, goValue(list(string()), skipped), detail))
}
