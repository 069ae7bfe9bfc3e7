import { string } from '../../../description/texts.ts'
import { boolean, int64, list, ref } from '../../../description/values.ts'
import { checkSubdomain, type FieldError, printQuantity, quantitySign, readQuantity } from '../../../meta/index.ts'
import { goValue, type Node } from '../../../schema/index.ts'
import { declaredSince, validateDeviceQualifiedName } from '../../../validation/device-texts.ts'
import { forbiddenValue, invalidFor, invalidValue, requiredValue, tooLongValue, tooManyValues } from '../../../validation/field-errors.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'
import type { RuleContext, TypeRules } from '../../../validation/rule-book.ts'
import { bytesOf } from '../../../validation/texts.ts'
import { isGiven, notFoundValue } from '../checks.ts'
import { validateBinding } from './binding.ts'
import { validateRequestPolicy } from './capacity.ts'
import { declared } from './device-claim.ts'

const namesMax = 32
const valuesMax = 48
const textBytesMax = 64
const taintsMax = 16
/** Maximum length of a name in an error's path; longer names of attributes and capacities are shortened. */
const shownNameMax = 96

/** A device of a slice. */
export const deviceRules: Readonly<Record<string, TypeRules>> = {
  'resource/v1.Device': [
    'name',
    validateSizes,
    validateAttributes,
    validateCapacities,
    validateTaints,
    'consumesCounters',
    { passedOver: ['taints', 'nodeName', 'nodeSelector', 'allNodes'] },
    validateNodes,
    validateBinding,
    validateNodeResources,
  ],
}

const lists: readonly (readonly [name: string, type: Node])[] = [
  ['bools', list(boolean())],
  ['ints', list(int64())],
  ['strings', list(string())],
  ['versions', list(string())],
]

/** The values of an attribute, in the order in which messages list them. */
const values = ['int', 'bool', 'string', 'version', 'ints', 'bools', 'strings', 'versions'] as const

function validateSizes(errors: FieldError[], device: Part, at: string): void {
  const attributes = partOf(device, 'attributes')
  const keys = Object.keys(attributes)
  const names = keys.length + Object.keys(partOf(device, 'capacity')).length
  if (names > namesMax) errors.push(invalidValue(at, names, `the total number of attributes and capacities must not exceed ${namesMax}`))
  let count = 0
  for (const key of keys) count += lists.reduce((sum, [name]) => sum + itemsOf(partOf(attributes, key), name).length, 0) || 1
  if (count > valuesMax) errors.push(invalidValue(at, count, `the total number of attribute values must not exceed ${valuesMax}`))
}

/** The path of an entry of a map. A long name is shortened in the middle. */
function entryPath(field: string, name: string): string {
  if (name.length <= shownNameMax) return `${field}[${name}]`
  const left = shownNameMax - 3
  return `${field}[${name.slice(0, (left + 1) >> 1)}...${name.slice(name.length - (left >> 1))}]`
}

function validateAttributes(errors: FieldError[], device: Part, at: string, context: RuleContext): void {
  const attributes = partOf(device, 'attributes')
  const field = `${at}.attributes`
  for (const name of Object.keys(attributes).sort()) {
    errors.push(...validateDeviceQualifiedName(name, field))
    validateAttribute(errors, partOf(attributes, name), entryPath(field, name), context)
  }
}

function validateAttribute(errors: FieldError[], attribute: Part, at: string, context: RuleContext): void {
  const { string: text, version } = attribute
  if (typeof text === 'string' && bytesOf(text) > textBytesMax) errors.push(tooLongValue(`${at}.string`, textBytesMax))
  if (typeof version === 'string') validateVersion(errors, version, `${at}.version`)
  for (const [name, type] of lists) {
    if (!isGiven(attribute, name)) continue
    const items = itemsOf<string>(attribute, name)
    if (items.length === 0) errors.push(invalidValue(`${at}.${name}`, goValue(type, items), 'must not be empty if specified'))
    for (const [index, item] of items.entries()) {
      const field = `${at}.${name}[${index}]`
      if (name === 'strings' && bytesOf(item) > textBytesMax) declared(errors, context).push(tooLongValue(field, textBytesMax))
      if (name === 'versions') validateVersion(errors, item, field)
    }
  }
  validateChoice(errors, attribute, at, context)
}

function validateChoice(errors: FieldError[], attribute: Part, at: string, context: RuleContext): void {
  const isDeclared = context.level >= declaredSince
  // For a declarative rule, an empty list counts as absent.
  const isOne = (name: string) => isGiven(attribute, name) && !(isDeclared && itemsOf(attribute, name).length === 0 && name.endsWith('s'))
  const given = values.filter(isOne)
  if (given.length === 1) return
  if (isDeclared) {
    const all = values.map((name) => `\`${name}\``).join(', ')
    const fault = given.length === 0 ? `must specify one of: ${all}` : `must specify exactly one of: ${all}`
    context.declared.push(invalidValue(at, given.length === 0 ? '' : `{${given.join(', ')}}`, fault))
  } else {
    const fault = 'exactly one value must be specified'
    const shown = given.length === 0 ? '' : goValue(ref('resource/v1.DeviceAttribute'), attribute)
    const isAbsent = given.length === 0 && context.level < 35
    errors.push(isAbsent ? requiredValue(at, fault) : invalidValue(at, shown, fault))
  }
}

const number = '(?:0|[1-9]\\d*)'
const preRelease = '(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)'
const build = '[0-9a-zA-Z-]+'
const versionPattern = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-${preRelease}(?:\\.${preRelease})*)?(?:\\+${build}(?:\\.${build})*)?$`,
)

function validateVersion(errors: FieldError[], version: string, field: string): void {
  const isLong = bytesOf(version) > textBytesMax
  // A version far beyond the maximum length is not matched.
  if (version.length > textBytesMax * 16 || !versionPattern.test(version))
    errors.push(invalidValue(field, version, 'must be a string compatible with semver.org spec 2.0.0'))
  if (isLong) errors.push(tooLongValue(field, textBytesMax))
}

/** The device with the same name in the live slice. */
function deviceBefore(device: Part, { live }: RuleContext): Part | undefined {
  const name = textOf(device, 'name')
  return itemsOf(partOf(live, 'spec'), 'devices').find((one) => textOf(one, 'name') === name)
}

function validateCapacities(errors: FieldError[], device: Part, at: string, context: RuleContext): void {
  const capacities = partOf(device, 'capacity')
  const before = deviceBefore(device, context)
  if (before !== undefined && isSame(before['capacity'], device['capacity'])) return
  const field = `${at}.capacity`
  for (const name of Object.keys(capacities).sort()) {
    errors.push(...validateDeviceQualifiedName(name, field))
    const capacity = partOf(capacities, name)
    const policy = optionalPart(capacity, 'requestPolicy')
    const path = `${entryPath(field, name)}.requestPolicy`
    if (policy === undefined) continue
    if (device['allowMultipleAllocations'] !== true) errors.push(forbiddenValue(path, 'allowMultipleAllocations must be true'))
    else validateRequestPolicy(errors, { policy, capacity: capacity['value'], at: path, context })
  }
}

function validateTaints(errors: FieldError[], device: Part, at: string, context: RuleContext): void {
  const taints = itemsOf(device, 'taints')
  const before = deviceBefore(device, context)
  if (before !== undefined && isSame(before['taints'], device['taints'])) return
  if (taints.length > taintsMax) errors.push(tooManyValues(`${at}.taints`, taints.length, taintsMax))
  else
    for (const [index, taint] of taints.entries())
      context.rules.of('resource/v1.DeviceTaint')(errors, taint, `${at}.taints[${index}]`, context)
}

const forms = ['nodeName', 'nodeSelector', 'allNodes'] as const

/** Validates the node selection of a device, if its slice leaves that to the devices. */
function validateNodes(errors: FieldError[], device: Part, at: string, context: RuleContext): void {
  if (partOf(context.object, 'spec')['perDeviceNodeSelection'] !== true) {
    const text =
      '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
    if (forms.some((form) => isGiven(device, form))) errors.push(invalidValue(at, undefined, text))
    return
  }
  const { nodeName: name, allNodes } = device
  const given: string[] = []
  if (name === '') errors.push(invalidValue(`${at}.nodeName`, name, 'must not be empty'))
  else if (typeof name === 'string') {
    given.push('`nodeName`')
    errors.push(...invalidFor(`${at}.nodeName`, name, checkSubdomain(name)))
  }
  const selector = optionalPart(device, 'nodeSelector')
  if (selector !== undefined) {
    given.push('`nodeSelector`')
    context.rules.of('core/v1.NodeSelector')(errors, selector, `${at}.nodeSelector`, context)
  }
  if (allNodes === true) given.push('`allNodes`')
  if (allNodes === false) errors.push(invalidValue(`${at}.allNodes`, false, 'must be either unset or set to true'))
  const text =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
  if (given.length === 0) errors.push(requiredValue(at, text))
  if (given.length > 1) errors.push(invalidValue(at, `{${given.join(', ')}}`, text))
}

const plainNames = new Set(['cpu', 'memory', 'ephemeral-storage'])

/** Validates the amounts of node resources that a device uses. */
function validateNodeResources(errors: FieldError[], device: Part, at: string): void {
  const resources = partOf(device, 'nodeAllocatableResources')
  for (const name of Object.keys(resources).sort()) {
    const resource = partOf(resources, name)
    const field = `${at}.nodeAllocatableResources[${name}]`
    if (!plainNames.has(name) && !name.startsWith('hugepages-'))
      errors.push(invalidValue(field, name, 'must be a node allocatable resource name'))
    const [mapping, overhead] = [optionalPart(resource, 'mapping'), optionalPart(resource, 'overhead')]
    if (mapping === undefined && overhead === undefined)
      errors.push(requiredValue(field, 'at least one of mapping or overhead must be set'))
    if (mapping !== undefined) validateMapping(errors, mapping, partOf(device, 'capacity'), `${field}.mapping`)
    if (overhead !== undefined) validateOverhead(errors, overhead, `${field}.overhead`)
  }
}

function validateMapping(errors: FieldError[], mapping: Part, capacities: Part, at: string): void {
  const key = mapping['capacityKey']
  if (key === '') errors.push(invalidValue(`${at}.capacityKey`, key, 'capacityKey must not be an empty string'))
  else if (typeof key === 'string' && !isGiven(capacities, key)) errors.push(notFoundValue(`${at}.capacityKey`, key))
  const hasMultiplier = isGiven(mapping, 'capacityMultiplier')
  if (typeof key === 'string' && !hasMultiplier)
    errors.push(requiredValue(`${at}.capacityMultiplier`, 'capacityMultiplier is required when capacityKey is set'))
  if (typeof key === 'string') checkSign(errors, mapping, { name: 'capacityMultiplier', at, min: 1 })
  checkSign(errors, mapping, { name: 'deviceMultiplier', at, min: 1 })
  if (hasMultiplier && typeof key !== 'string')
    errors.push(requiredValue(`${at}.capacityKey`, 'capacityKey is required when capacityMultiplier is set'))
}

function validateOverhead(errors: FieldError[], overhead: Part, at: string): void {
  if (!isGiven(overhead, 'perPod') && !isGiven(overhead, 'perContainer'))
    errors.push(invalidValue(at, '', 'at least one of perPod or perContainer must be set'))
  for (const name of ['perPod', 'perContainer']) checkSign(errors, overhead, { name, at, min: 0 })
}

interface SignedField {
  readonly name: string
  readonly at: string
  /** The minimum sign of an amount. */
  readonly min: 0 | 1
}

function checkSign(errors: FieldError[], part: Part, { name, at, min }: SignedField): void {
  const reading = isGiven(part, name) ? readQuantity(part[name]) : undefined
  if (reading?.kind !== 'quantity' || quantitySign(reading.quantity) >= min) return
  errors.push(invalidValue(`${at}.${name}`, printQuantity(reading.quantity), min === 1 ? 'must be positive' : 'must be non-negative'))
}
