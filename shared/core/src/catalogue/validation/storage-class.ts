import { field } from '../../description/fields.ts'
import { closed, only } from '../../description/texts.ts'
import { checkQualifiedName, type FieldError } from '../../meta/index.ts'
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
import { as, type PartRule, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { validateLabelKey } from '../../validation/selector.ts'
import { bytesOf } from '../../validation/texts.ts'

const parametersMax = 512
const parameterBytesMax = 256 * 1024

/** A StorageClass. It is immutable because existing volumes depend on it. */
export const storageClassRules: Readonly<Record<string, TypeRules>> = {
  'storage/v1.StorageClass': [
    'provisioner',
    driverNamed('provisioner'),
    validateParameters,
    as('reclaimPolicy', field(only(closed('Delete', 'Retain')))),
    'volumeBindingMode',
    { passedOver: ['allowedTopologies'] },
    validateTopologies,
    validateChange,
  ],
  'storage/v1.VolumeAttributesClass': [keepAttributes, 'driverName', driverNamed('driverName'), validateParameters, requireParameters],
}

/** Validates the name of a driver, ignoring case. */
function driverNamed(field: string): PartRule {
  return (errors, part) => {
    const name = textOf(part, field).toLowerCase()
    if (name !== '') errors.push(...invalidFor(field, name, checkQualifiedName(name)))
  }
}

function validateParameters(errors: FieldError[], storageClass: Part): void {
  const parameters = partOf(storageClass, 'parameters')
  const entries = Object.entries(parameters)
  if (entries.length > parametersMax) {
    errors.push(tooLongValue('parameters', parametersMax))
    return
  }
  if (Object.hasOwn(parameters, '')) errors.push(invalidValue('parameters', '', 'field can not be empty.'))
  const bytes = entries.reduce((sum, [key, value]) => sum + bytesOf(key) + bytesOf(String(value)), 0)
  if (bytes > parameterBytesMax) errors.push(tooLongValue('parameters', parameterBytesMax))
}

function validateTopologies(errors: FieldError[], storageClass: Part): void {
  const terms = itemsOf(storageClass, 'allowedTopologies')
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
    // kube-apiserver reports an empty term as a duplicate.
    if (repeated.has(index) || itemsOf(term, 'matchLabelExpressions').length === 0) errors.push(duplicateValue(at, ''))
  }
}

function validateRequirement(requirement: Part, at: string): FieldError[] {
  const values = itemsOf<string>(requirement, 'values')
  const errors = values.length === 0 ? [requiredValue(`${at}.values`)] : []
  for (const index of repeatedPlaces(values)) errors.push(duplicateValue(`${at}.values[${index}]`, values[index]))
  return [...errors, ...validateLabelKey(textOf(requirement, 'key'), `${at}.key`)]
}

/** A term with sorted values, since their order has no meaning. */
function sorted(term: Part): Part {
  const entries = itemsOf(term, 'matchLabelExpressions').map((requirement): [string, readonly string[]] => [
    textOf(requirement, 'key'),
    [...itemsOf<string>(requirement, 'values')].sort(),
  ])
  return Object.fromEntries(entries)
}

function requireParameters(errors: FieldError[], { parameters }: Part): void {
  if (Object.keys(partOf({ parameters }, 'parameters')).length > 0) return
  errors.push(requiredValue('parameters', 'must contain at least one key/value pair'))
}

function keepAttributes(errors: FieldError[], attributes: Part, _at: string, { live }: RuleContext): void {
  if (live === undefined) return
  for (const name of ['driverName', 'parameters']) {
    if (!isSame(attributes[name], live[name])) errors.push(forbiddenValue(name, `updates to ${name} are forbidden.`))
  }
}

/** The first level at which the rules for immutable fields are declarative. */
const declaredSince = 37

function validateChange(errors: FieldError[], storageClass: Part, _at: string, { live, level, declared }: RuleContext): void {
  if (live === undefined) return
  const isDeclared = level >= declaredSince
  const keep = (name: string, isKept: boolean): void => {
    if (isKept) return
    if (isDeclared) declared.push(invalidValue(name, undefined, 'field is immutable'))
    else errors.push(forbiddenValue(name, `updates to ${name} are forbidden.`))
  }
  const keepParameters = (): void =>
    keep('parameters', isSame(optionalPart(storageClass, 'parameters') ?? {}, optionalPart(live, 'parameters') ?? {}))
  // Errors of declarative rules are in the order of the fields.
  if (!isDeclared) keepParameters()
  keep('provisioner', storageClass['provisioner'] === live['provisioner'])
  if (isDeclared) keepParameters()
  keep('reclaimPolicy', isSame(storageClass['reclaimPolicy'], live['reclaimPolicy']))
  const mode = 'volumeBindingMode'
  if (isDeclared) keep(mode, isSame(storageClass[mode], live[mode]))
  else errors.push(...immutableValue(mode, storageClass[mode], live[mode]))
}
