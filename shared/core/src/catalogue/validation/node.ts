import type { FieldError } from '../../meta/status.ts'
import { forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../../schema/required.ts'
import { cidrFamilyOf as familyOf } from './ip-address.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from './part.ts'

const conditionStatuses = ['False', 'True', 'Unknown']

/** The rules of a Node's spec. */
export function validateNodeSpec(node: Part, live: Part | undefined): FieldError[] {
  const spec = partOf(node, 'spec')
  const source = optionalPart(spec, 'configSource')
  return [
    ...validatePodRanges(spec),
    ...validateTaints(itemsOf(spec, 'taints')),
    ...validateProvider(textOf(spec, 'providerID')),
    ...(source === undefined ? [] : validateConfigSource(source, 'spec.configSource', 'spec')),
    ...(live === undefined ? [] : validateProviderChange(spec, partOf(live, 'spec'))),
  ]
}

/** The rules of a Node's status. */
export function validateNodeStatus(node: Part): FieldError[] {
  const status = partOf(node, 'status')
  const config = partOf(status, 'config')
  return [
    ...itemsOf(status, 'addresses').flatMap(validateAddress),
    ...validateConditions(itemsOf(status, 'conditions'), 'status.conditions'),
    ...itemsOf(status, 'volumesAttached').flatMap(validateAttachedVolume),
    ...['active', 'assigned', 'lastKnownGood'].flatMap((name) => {
      const source = optionalPart(config, name)
      return source === undefined ? [] : validateConfigSource(source, `status.config.${name}`, 'status')
    }),
  ]
}

/** Conditions as Node and ReplicationController have them. */
export function validateConditions(conditions: readonly Part[], path: string): FieldError[] {
  return conditions.flatMap((condition, index) => {
    const at = `${path}[${index}]`
    const status = textOf(condition, 'status')
    const errors = textOf(condition, 'type') === '' ? [requiredValue(`${at}.type`)] : []
    if (status === '') errors.push(requiredValue(`${at}.status`))
    else if (!conditionStatuses.includes(status)) errors.push(unsupportedValue(`${at}.status`, status, conditionStatuses))
    return errors
  })
}

function validatePodRanges(spec: Part): FieldError[] {
  const ranges = itemsOf<string>(spec, 'podCIDRs')
  const first = textOf(spec, 'podCIDR')
  const errors = ranges.flatMap((range, index) => (familyOf(range) === undefined ? [badRange(`spec.podCIDRs[${index}]`, range)] : []))
  if (ranges.length === 0 && first !== '' && familyOf(first) === undefined) errors.push(badRange('spec.podCIDR', first))
  if (ranges.length > 0 && first !== '' && ranges[0] !== first) {
    errors.push(invalidValue('spec.podCIDRs[0]', ranges[0], 'must be equal to podCIDR'))
  }
  const families = ranges.map(familyOf)
  if (ranges.length > 2 || (ranges.length === 2 && families[0] === families[1])) {
    errors.push(invalidValue('spec.podCIDRs', ranges, 'may specify no more than one CIDR for each IP family'))
  }
  return errors
}

const badRange = (field: string, range: string): FieldError => invalidValue(field, range, 'must be a valid CIDR value')

function validateTaints(taints: readonly Part[]): FieldError[] {
  const effects = ['NoExecute', 'NoSchedule', 'PreferNoSchedule']
  const seen = new Set<string>()
  return taints.flatMap((taint, index) => {
    const at = `spec.taints[${index}]`
    const errors = textOf(taint, 'key') === '' ? [requiredValue(`${at}.key`)] : []
    const effect = textOf(taint, 'effect')
    if (effect === '') errors.push(requiredValue(`${at}.effect`))
    else if (!effects.includes(effect)) errors.push(unsupportedValue(`${at}.effect`, effect, effects))
    const identity = `${textOf(taint, 'key')}:${effect}`
    if (seen.has(identity)) {
      errors.push({
        reason: 'FieldValueDuplicate',
        field: at,
        message: `Duplicate value: ${JSON.stringify(taint)}: taints must be unique by key and effect pair`,
      })
    }
    seen.add(identity)
    return errors
  })
}

/** The id and the version of the referred object are known to the node only, so they belong to the status. */
function validateConfigSource(source: Part, path: string, part: 'spec' | 'status'): FieldError[] {
  const configMap = optionalPart(source, 'configMap')
  if (configMap === undefined) return [invalidValue(path, source, 'exactly one reference subfield must be non-nil')]
  const at = `${path}.configMap`
  const wanted = ['kubeletConfigKey', 'name', 'namespace', ...(part === 'status' ? ['resourceVersion', 'uid'] : [])]
  const unwanted = part === 'spec' ? ['resourceVersion', 'uid'] : []
  return [
    ...wanted
      .filter((name) => textOf(configMap, name) === '')
      .map((name) => requiredValue(`${at}.${name}`, `${name} must be set in ${part}`)),
    ...unwanted
      .filter((name) => textOf(configMap, name) !== '')
      .map((name) => forbiddenValue(`${at}.${name}`, `${name} must not be set in spec`)),
  ]
}

function validateProvider(provider: string): FieldError[] {
  if (provider === '' || /^[^:/]+:\/\/.+/.test(provider)) return []
  return [invalidValue('spec.providerID', provider, 'must have the form <ProviderName>://<ProviderSpecificNodeID>')]
}

function validateProviderChange(spec: Part, live: Part): FieldError[] {
  const errors: FieldError[] = []
  const changed = (name: string): boolean => textOf(live, name) !== '' && textOf(spec, name) !== textOf(live, name)
  if (changed('providerID'))
    errors.push(forbiddenValue('spec.providerID', 'node updates may not change providerID except from "" to valid'))
  if (changed('podCIDR')) errors.push(forbiddenValue('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'))
  return errors
}

function validateAddress(address: Part, index: number): FieldError[] {
  return ['type', 'address']
    .filter((name) => textOf(address, name) === '')
    .map((name) => requiredValue(`status.addresses[${index}].${name}`))
}

function validateAttachedVolume(volume: Part, index: number): FieldError[] {
  return ['devicePath', 'name']
    .filter((name) => volume[name] === undefined)
    .map((name) => requiredValue(`status.volumesAttached[${index}].${name}`))
}
