import { list, ref } from '../../../description/values.ts'
import { checkSubdomain, type FieldError } from '../../../meta/index.ts'
import { goValue } from '../../../schema/go-value.ts'
import { declaredSince, validateCounterName, validateFullName, validatePoolName } from '../../../validation/device-texts.ts'
import { duplicateValue, invalidFor, invalidValue, requiredValue, tooManyValues } from '../../../validation/field-errors.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, repeatedPlaces, textOf } from '../../../validation/part.ts'
import { liveAt, type RuleContext, type TypeRules } from '../../../validation/rule-book.ts'
import { isGiven } from '../checks.ts'
import { validateSkips } from './binding.ts'
import { declared } from './device-claim.ts'

const devicesMax = 128
/** Maximum number of devices in a slice in which a device has taints, consumes counters, or has a list as an attribute. */
const devicesWithExtrasMax = 64
const countersMax = 32

/** The devices of a pool, and the nodes that can use the devices. */
export const sliceRules: Readonly<Record<string, TypeRules>> = {
  'resource/v1.ResourceSliceSpec': [
    ...['driver', 'pool'],
    keepOwner,
    { passedOver: ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection', 'devices'] },
    validateNodeForm,
    refuseBoth,
    validateDevices,
    'sharedCounters',
    validatePartitionType,
    validateSkips,
  ],
  'resource/v1.ResourcePool': [validatePool, 'resourceSliceCount', 'generation'],
  'resource/v1.CounterSet': ['name', validateCounters],
  'resource/v1.DeviceCounterConsumption': ['counterSet', validateCounters],
}

function validatePool(errors: FieldError[], pool: Part, at: string): void {
  errors.push(...validatePoolName(textOf(pool, 'name'), `${at}.name`))
}

/** The driver, the pool and the node of a slice are immutable. */
function keepOwner(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  if (context.live === undefined) return
  const before = liveAt(context, at)
  const keep = (part: Part, live: Part, name: string, path: string): void => {
    if (!isSame(part[name], live[name])) errors.push(invalidValue(`${path}.${name}`, part[name], 'field is immutable'))
  }
  keep(partOf(spec, 'pool'), partOf(before, 'pool'), 'name', `${at}.pool`)
  keep(spec, before, 'driver', at)
  keep(spec, before, 'nodeName', at)
}

const forms = ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection'] as const

function validateNodeForm(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  const given: string[] = []
  const name = spec['nodeName']
  if (name === '') errors.push(invalidValue(`${at}.nodeName`, name, 'must be either unset or set to a non-empty string'))
  else if (typeof name === 'string') {
    given.push('`nodeName`')
    errors.push(...invalidFor(`${at}.nodeName`, name, checkSubdomain(name)))
  }
  const selector = optionalPart(spec, 'nodeSelector')
  if (selector !== undefined) {
    given.push('`nodeSelector`')
    const field = `${at}.nodeSelector`
    context.rules.of('core/v1.NodeSelector')(errors, selector, field, context)
    const terms = itemsOf(selector, 'nodeSelectorTerms')
    const shown = goValue(list(ref('core/v1.NodeSelectorTerm')), selector['nodeSelectorTerms'])
    if (terms.length !== 1) errors.push(invalidValue(`${field}.nodeSelectorTerms`, shown, 'must have exactly one node selector term'))
  }
  for (const flag of ['allNodes', 'perDeviceNodeSelection']) {
    if (spec[flag] === true) given.push(`\`${flag}\``)
    if (spec[flag] === false) errors.push(invalidValue(`${at}.${flag}`, false, 'must be either unset or set to true'))
  }
  const text = `exactly one of ${forms.map((form) => `\`${form}\``).join(', ')} is required`
  if (given.length === 0) errors.push(requiredValue(at, text))
  if (given.length > 1) errors.push(invalidValue(at, `{${given.join(', ')}}`, `${text}, but multiple fields are set`))
}

function refuseBoth(errors: FieldError[], spec: Part, at: string): void {
  if (isGiven(spec, 'sharedCounters') && isGiven(spec, 'devices'))
    errors.push(invalidValue(at, '', 'only one of `sharedCounters` or `devices` is allowed'))
}

const listAttributes = ['ints', 'bools', 'strings', 'versions']

function hasExtras(device: Part): boolean {
  if (itemsOf(device, 'taints').length > 0 || itemsOf(device, 'consumesCounters').length > 0) return true
  const attributes = partOf(device, 'attributes')
  return Object.keys(attributes).some((key) => listAttributes.some((name) => isGiven(partOf(attributes, key), name)))
}

function validateDevices(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  const devices = itemsOf(spec, 'devices')
  const max = devices.some(hasExtras) ? devicesWithExtrasMax : devicesMax
  if (devices.length > max) {
    errors.push(tooManyValues(`${at}.devices`, devices.length, max))
    return
  }
  const validate = context.rules.of('resource/v1.Device')
  for (const [index, device] of devices.entries()) validate(errors, device, `${at}.devices[${index}]`, context)
  const names = devices.map((device) => textOf(device, 'name'))
  const member = context.level < 35 ? '.name' : ''
  for (const index of repeatedPlaces(names)) errors.push(duplicateValue(`${at}.devices[${index}]${member}`, names[index]))
}

/** Validates the counters of a set, or the amounts that a device consumes. */
function validateCounters(errors: FieldError[], part: Part, at: string, context: RuleContext): void {
  const names = Object.keys(partOf(part, 'counters')).sort()
  const field = `${at}.counters`
  const last = declared(errors, context)
  if (names.length === 0) last.push(requiredValue(field))
  else if (names.length > countersMax) errors.push(tooManyValues(field, names.length, countersMax))
  else for (const name of names) last.push(...validateCounterName(name, field))
}

/** Each device that consumes counters needs a string attribute with the type of its partition. */
function validatePartitionType(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  if (!isGiven(spec, 'partitionTypeAttribute')) return
  const name = textOf(spec, 'partitionTypeAttribute')
  const field = `${at}.partitionTypeAttribute`
  const devices = itemsOf(spec, 'devices')
  if (!devices.some((device) => itemsOf(device, 'consumesCounters').length > 0)) {
    errors.push(invalidValue(field, name, 'may only be set on a slice which declares devices that consume counters'))
  }
  const faults = validateFullName(name, field, context.level >= declaredSince)
  declared(errors, context).push(...faults)
  if (faults.length > 0) return
  const prefix = `${textOf(spec, 'driver')}/`
  const bare = name.startsWith(prefix) ? name.slice(prefix.length) : name
  for (const [index, device] of devices.entries()) {
    if (itemsOf(device, 'consumesCounters').length === 0) continue
    const attributes = partOf(device, 'attributes')
    const attribute = optionalPart(attributes, name) ?? optionalPart(attributes, bare)
    const place = `${at}.devices[${index}].attributes[${name}]`
    const why = '`partitionTypeAttribute` names this attribute'
    if (attribute === undefined) errors.push(requiredValue(place, `device consumes counters and ${why}, so it must be set`))
    else if (typeof attribute['string'] !== 'string') {
      errors.push(invalidValue(place, goValue(ref('resource/v1.DeviceAttribute'), attribute), `must be a string value because ${why}`))
    }
  }
}
