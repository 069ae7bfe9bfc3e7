import { parseQuantity, quantitySign } from '../../meta/quantity.ts'
import type { FieldError } from '../../meta/status.ts'
import { checkSubdomain } from '../../meta/validate-names.ts'
import { duplicateValue, immutableValue, invalidFor, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { validateLabelSelector } from '../../validation/selector.ts'
import { isGiven, numberOf } from './checks.ts'
import { validateDriverName } from './csi-node.ts'

const groupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType']
const lifecycleModes = ['Ephemeral', 'Persistent']
const tokenSecondsMin = 600
const tokenSecondsMax = 2 ** 32

/** The rules of a CSIDriver. What volumes were attached by stays. */
export function validateCsiDriver(driver: Part, live: Part | undefined): FieldError[] {
  const spec = partOf(driver, 'spec')
  const errors = validateDriverName(textOf(partOf(driver, 'metadata'), 'name'), 'name')
  for (const field of ['attachRequired', 'podInfoOnMount', 'storageCapacity']) {
    if (!isGiven(spec, field)) errors.push(requiredValue(`spec.${field}`))
  }
  const policy = spec['fsGroupPolicy']
  if (typeof policy === 'string' && !groupPolicies.includes(policy)) {
    errors.push(unsupportedValue('spec.fsGroupPolicy', policy, groupPolicies))
  }
  errors.push(...validateTokens(itemsOf(spec, 'tokenRequests')))
  for (const mode of itemsOf<string>(spec, 'volumeLifecycleModes')) {
    if (!lifecycleModes.includes(mode)) errors.push(unsupportedValue('spec.volumeLifecycleModes', mode, lifecycleModes))
  }
  if (live === undefined) return errors
  const before = partOf(live, 'spec')
  for (const field of ['attachRequired', 'fsGroupPolicy', 'podInfoOnMount', 'volumeLifecycleModes']) {
    errors.push(...immutableValue(`spec.${field}`, spec[field], before[field]))
  }
  return errors
}

function validateTokens(requests: readonly Part[]): FieldError[] {
  const audiences = new Set<string>()
  return requests.flatMap((request, index) => {
    const at = `spec.tokenRequests[${index}]`
    const audience = textOf(request, 'audience')
    if (audiences.has(audience)) return [duplicateValue(`${at}.audience`, audience)]
    audiences.add(audience)
    const seconds = numberOf(request, 'expirationSeconds')
    if (seconds === undefined) return []
    const field = `${at}.expirationSeconds`
    if (seconds < tokenSecondsMin) return [invalidValue(field, seconds, 'may not specify a duration less than 10 minutes')]
    return seconds > tokenSecondsMax ? [invalidValue(field, seconds, 'may not specify a duration larger than 2^32 seconds')] : []
  })
}

/** The rules of a CSIStorageCapacity: what it is about stays, how much there is may change. */
export function validateCsiStorageCapacity(capacity: Part, live: Part | undefined): FieldError[] {
  const name = textOf(capacity, 'storageClassName')
  const topology = optionalPart(capacity, 'nodeTopology')
  const errors = [...validateLabelSelector(topology, 'nodeTopology'), ...invalidFor('storageClassName', name, checkSubdomain(name))]
  const quantity = isGiven(capacity, 'capacity') ? parseQuantity(String(capacity['capacity'])) : undefined
  if (quantity !== undefined && quantitySign(quantity) < 0) {
    errors.push(invalidValue('capacity', capacity['capacity'], 'must be greater than or equal to 0'))
  }
  if (live === undefined) return errors
  return [
    ...errors,
    ...immutableValue('nodeTopology', topology, live['nodeTopology']),
    ...immutableValue('storageClassName', name, live['storageClassName']),
  ]
}
