import type { FieldError } from '../../meta/status.ts'
import { checkQualifiedName } from '../../meta/validate-names.ts'
import {
  duplicateValue,
  forbiddenValue,
  immutableValue,
  invalidFor,
  invalidValue,
  requiredValue,
  tooLongValue,
} from '../../validation/field-errors.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, repeatedPlaces, textOf } from '../../validation/part.ts'
import { validateLabelKey } from '../../validation/selector.ts'
import { bytesOf } from '../../validation/texts.ts'
import { allowOneOf, requireOneOf } from './checks.ts'

const parametersMax = 512
const parameterBytesMax = 256 * 1024

/** The rules of a StorageClass. Volumes were made by it, so it stays what it is. */
export function validateStorageClass(storageClass: Part, live: Part | undefined): FieldError[] {
  const provisioner = textOf(storageClass, 'provisioner')
  const errors =
    provisioner === ''
      ? [requiredValue('provisioner')]
      : invalidFor('provisioner', provisioner.toLowerCase(), checkQualifiedName(provisioner.toLowerCase()))
  errors.push(...validateParameters(partOf(storageClass, 'parameters')))
  const words: FieldError[] = []
  if (storageClass['reclaimPolicy'] !== '') allowOneOf(words, { part: storageClass, name: 'reclaimPolicy', at: '' }, ['Delete', 'Retain'])
  const checkMode = storageClass['volumeBindingMode'] === '' ? allowOneOf : requireOneOf
  checkMode(words, { part: storageClass, name: 'volumeBindingMode', at: '' }, ['Immediate', 'WaitForFirstConsumer'])
  // The fields stand at the top of the object, where a path has no dot.
  errors.push(...words.map((error) => ({ ...error, field: error.field.slice(1) })))
  errors.push(...validateTopologies(itemsOf(storageClass, 'allowedTopologies')))
  return live === undefined ? errors : [...errors, ...validateChange(storageClass, live)]
}

function validateParameters(parameters: Part): FieldError[] {
  const entries = Object.entries(parameters)
  const errors: FieldError[] = []
  if (entries.length > parametersMax) return [tooLongValue('parameters', parametersMax)]
  if (Object.hasOwn(parameters, '')) errors.push(invalidValue('parameters', '', 'field can not be empty.'))
  const bytes = entries.reduce((sum, [key, value]) => sum + bytesOf(key) + bytesOf(String(value)), 0)
  if (bytes > parameterBytesMax) errors.push(tooLongValue('parameters', parameterBytesMax))
  return errors
}

function validateTopologies(terms: readonly Part[]): FieldError[] {
  const errors: FieldError[] = []
  const repeated = repeatedPlaces(terms.map(sorted))
  for (const [index, term] of terms.entries()) {
    const at = `allowedTopologies[${index}].matchLabelExpressions`
    const keys = new Set<string>()
    for (const [position, requirement] of itemsOf(term, 'matchLabelExpressions').entries()) {
      const key = textOf(requirement, 'key')
      errors.push(...validateRequirement(requirement, `${at}[${position}]`))
      if (keys.has(key)) errors.push(duplicateValue(`${at}[${position}].key`, key))
      keys.add(key)
    }
    // To kube-apiserver a term of nothing is one that it has seen.
    if (repeated.has(index) || itemsOf(term, 'matchLabelExpressions').length === 0) errors.push(duplicateValue(at, ''))
  }
  return errors
}

function validateRequirement(requirement: Part, at: string): FieldError[] {
  const values = itemsOf<string>(requirement, 'values')
  const errors = values.length === 0 ? [requiredValue(`${at}.values`)] : []
  for (const [index, value] of values.entries()) {
    if (values.indexOf(value) < index) errors.push(duplicateValue(`${at}.values[${index}]`, value))
  }
  return [...errors, ...validateLabelKey(textOf(requirement, 'key'), `${at}.key`)]
}

/** A term with its values in order, as their order means nothing. */
function sorted(term: Part): Part {
  const entries = itemsOf(term, 'matchLabelExpressions').map((requirement): [string, readonly string[]] => [
    textOf(requirement, 'key'),
    [...itemsOf<string>(requirement, 'values')].sort(),
  ])
  return Object.fromEntries(entries)
}

function validateChange(storageClass: Part, live: Part): FieldError[] {
  const errors: FieldError[] = []
  const keep = (name: string, isKept: boolean): void => {
    if (!isKept) errors.push(forbiddenValue(name, `updates to ${name} are forbidden.`))
  }
  keep('parameters', isSame(optionalPart(storageClass, 'parameters') ?? {}, optionalPart(live, 'parameters') ?? {}))
  keep('provisioner', storageClass['provisioner'] === live['provisioner'])
  keep('reclaimPolicy', isSame(storageClass['reclaimPolicy'], live['reclaimPolicy']))
  return [...errors, ...immutableValue('volumeBindingMode', storageClass['volumeBindingMode'], live['volumeBindingMode'])]
}
