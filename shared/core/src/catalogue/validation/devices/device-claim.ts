import { checkLabel, checkLabelValue, type FieldError } from '../../../meta/index.ts'
import { declaredSince, validateFullName } from '../../../validation/device-texts.ts'
import { invalidFor, invalidValue, requiredValue } from '../../../validation/field-errors.ts'
import { validateTemplateMeta } from '../../../validation/object-meta.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'
import { type PartRule, partAt, type RuleContext, type TypeRules } from '../../../validation/rule-book.ts'
import { isGiven, numberOf } from '../checks.ts'
import { validateExpression } from './expressions.ts'

const listMax = 32

const isNew = (_part: Part, { live }: RuleContext): boolean => live === undefined
const has = (name: string, other: string) => (request: Part) => isChosen(request, name) && !isChosen(request, other)

/** The devices that a claim requests. The spec is immutable, so it is checked once. */
export const claimRules: Readonly<Record<string, TypeRules>> = {
  'resource/v1.ResourceClaim': [{ when: isNew, steps: ['spec'] }],
  'resource/v1.ResourceClaimTemplateSpec': [validateTemplateMetadata, 'spec', { passedOver: ['metadata'] }],
  'resource/v1.DeviceRequest': [
    'name',
    validateChoice,
    { when: has('firstAvailable', 'exactly'), steps: ['firstAvailable'] },
    { when: has('exactly', 'firstAvailable'), steps: ['exactly'] },
    validateDeclaredForms,
  ],
  'resource/v1.ExactDeviceRequest': ['deviceClassName', 'selectors', 'derivedAttributes', 'allocationMode', validateCount, 'tolerations'],
  'resource/v1.DeviceSubRequest': [
    ...['name', 'deviceClassName', 'selectors', 'derivedAttributes', 'allocationMode'],
    validateCount,
    'tolerations',
  ],
  'resource/v1.DeviceDerivedAttribute': [validateUse, validateDerived, 'name', validateDerivedName, 'expression'],
  'resource/v1.DeviceToleration': ['key', validateTolerationValue, 'operator', 'effect'],
  'resource/v1.DeviceConstraint': [requestRefs('requests'), 'requests', validateConstraint],
  'resource/v1.DeviceClaimConfiguration': [requestRefs('requests'), 'requests', 'opaque'],
}

/** Returns the list for errors of a rule that is declarative from a level on; from then on these errors come last. */
export function declared(errors: FieldError[], { level, declared: last }: RuleContext): FieldError[] {
  return level < declaredSince ? errors : last
}

function validateTemplateMetadata(errors: FieldError[], spec: Part, at: string): void {
  validateTemplateMeta(errors, partOf(spec, 'metadata'), `${at}.metadata`)
}

function isChosen(request: Part, name: string): boolean {
  return name === 'firstAvailable' ? itemsOf(request, name).length > 0 : isGiven(request, name)
}

function validateChoice(errors: FieldError[], request: Part, at: string): void {
  const text = 'exactly one of `exactly` or `firstAvailable` is required'
  const given = ['exactly', 'firstAvailable'].filter((name) => isChosen(request, name)).length
  if (given === 0) errors.push(requiredValue(at, text))
  if (given > 1) errors.push(invalidValue(at, undefined, `${text}, but multiple fields are set`))
}

/** Declarative rules check both forms even if only one is allowed. */
function validateDeclaredForms(_errors: FieldError[], request: Part, at: string, context: RuleContext): void {
  const [exactly, alternatives] = [optionalPart(request, 'exactly'), itemsOf(request, 'firstAvailable')]
  if (context.level < declaredSince || exactly === undefined || alternatives.length === 0) return
  context.rules.of('resource/v1.ExactDeviceRequest')([], exactly, `${at}.exactly`, context)
  const validate = context.rules.of('resource/v1.DeviceSubRequest')
  for (const [index, one] of alternatives.entries()) validate([], one, `${at}.firstAvailable[${index}]`, context)
}

function validateCount(errors: FieldError[], request: Part, at: string): void {
  const mode = textOf(request, 'allocationMode')
  const count = numberOf(request, 'count') ?? 0
  const field = `${at}.count`
  if (mode === 'All' && count !== 0) errors.push(invalidValue(field, count, "must not be specified when allocationMode is 'All'"))
  if (mode === 'ExactCount' && count <= 0) errors.push(invalidValue(field, count, 'must be greater than zero'))
}

function validateTolerationValue(errors: FieldError[], toleration: Part, at: string): void {
  const [operator, value] = [textOf(toleration, 'operator'), textOf(toleration, 'value')]
  const field = `${at}.value`
  if (operator === 'Exists' && value !== '') errors.push(invalidValue(field, value, 'must be empty for operator `Exists`'))
  if (operator === 'Equal') errors.push(...invalidFor(field, value, checkLabelValue(value)))
}

function validateConstraint(errors: FieldError[], constraint: Part, at: string, context: RuleContext): void {
  const name = ['matchAttribute', 'distinctAttribute'].find((one) => isGiven(constraint, one))
  if (name !== undefined) {
    const isDeclared = context.level >= declaredSince
    declared(errors, context).push(...validateFullName(textOf(constraint, name), `${at}.${name}`, isDeclared))
  } else if (!context.isGateOn('DRAConsumableCapacity')) errors.push(requiredValue(`${at}.matchAttribute`))
  else {
    const text = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
    errors.push(requiredValue(at, text))
  }
}

const wrongReference = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

/** Checks a list of request names, except for its length and duplicates. */
export function requestRefs(name: string): PartRule {
  return (errors, part, at, context) => {
    const names = itemsOf<string>(part, name)
    if (names.length > listMax) return
    for (const [index, one] of names.entries()) validateRequestRef(errors, one, `${at}.${name}[${index}]`, context)
  }
}

/** Adds the errors of a request's name, or of `request/subrequest`. */
export function validateRequestRef(errors: FieldError[], name: string, field: string, context: RuleContext): void {
  const [first = '', second, ...rest] = name.split('/')
  if (rest.length === 0)
    for (const one of second === undefined ? [first] : [first, second]) errors.push(...invalidFor(field, one, checkLabel(one)))
  const request = itemsOf(devicesOf(field, context), 'requests').find((one) => textOf(one, 'name') === first)
  const isKnown = second === undefined || itemsOf(request, 'firstAvailable').some((one) => textOf(one, 'name') === second)
  if (rest.length > 0 || request === undefined || !isKnown) errors.push(invalidValue(field, name, wrongReference))
}

/** The devices that are requested by the claim of a field. */
function devicesOf(field: string, { object }: RuleContext): Part {
  return partAt(object, field.startsWith('spec.spec.') ? 'spec.spec.devices' : 'spec.devices')
}

/** A derived attribute must be used by a constraint of its request. */
function validateUse(errors: FieldError[], attribute: Part, at: string, context: RuleContext): void {
  const name = textOf(attribute, 'name')
  const devices = devicesOf(at, context)
  const [, index = '', , sub] = /requests\[(\d+)\](\.firstAvailable\[(\d+)\])?/.exec(at) ?? []
  const request = itemsOf(devices, 'requests')[Number(index)]
  const parent = textOf(request, 'name')
  const own = sub === undefined ? parent : `${parent}/${textOf(itemsOf(request, 'firstAvailable')[Number(sub)], 'name')}`
  const isUsed = itemsOf(devices, 'constraints').some((constraint) => {
    const requests = itemsOf<string>(constraint, 'requests')
    const attributeName = constraint['matchAttribute'] ?? constraint['distinctAttribute']
    return attributeName === name && (requests.length === 0 || requests.includes(own) || requests.includes(parent))
  })
  const detail = 'must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request'
  if (name !== '' && !isUsed) errors.push(invalidValue(`${at}.name`, name, detail))
}

function validateDerived(errors: FieldError[], attribute: Part, at: string, context: RuleContext): void {
  const text = textOf(attribute, 'expression')
  if (text !== '') validateExpression(errors, { text, purpose: 'derived', field: `${at}.expression` }, context)
}

function validateDerivedName(_errors: FieldError[], attribute: Part, at: string, context: RuleContext): void {
  const name = textOf(attribute, 'name')
  if (name !== '') context.declared.push(...validateFullName(name, `${at}.name`, true))
}
