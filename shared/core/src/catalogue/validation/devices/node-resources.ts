import { printQuantity, quantitySign, readQuantity } from '../../../meta/quantity.ts'
import type { FieldError } from '../../../meta/status.ts'
import { invalidValue, requiredValue } from '../../../validation/field-errors.ts'
import { optionalPart, type Part, partOf } from '../../../validation/part.ts'
import { isGiven, notFoundValue } from '../checks.ts'

const plainNames = new Set(['cpu', 'memory', 'ephemeral-storage'])

/** Validates the amounts of node resources that a device uses. */
export function validateNodeResources(errors: FieldError[], device: Part, at: string): void {
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
