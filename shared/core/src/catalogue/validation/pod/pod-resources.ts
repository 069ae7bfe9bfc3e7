import { compareQuantities, type FieldError, parseQuantity, printQuantity, type Quantity } from '../../../meta/index.ts'
import { isHugePages } from '../../../meta/resource-names.ts'
import { containerAmounts, type Side } from '../../../quota/pod-amounts.ts'
import { forbiddenValue, invalidValue } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'
import { isGiven } from '../checks.ts'
import type { PodContext } from './pod-context.ts'
import { validateUsedClaims } from './resource-claims.ts'
import { validatePodLevelAmounts } from './resources.ts'

/** Validates the pod-level requests and limits, which must cover those of the containers. */
export function validatePodResources(errors: FieldError[], spec: Part, at: string, context: PodContext): void {
  const resources = optionalPart(spec, 'resources')
  if (resources === undefined) return
  const path = `${at}.resources`
  if (textOf(partOf(spec, 'os'), 'name') === 'windows') {
    errors.push(forbiddenValue(path, 'may not be set for a windows pod'))
    return
  }
  if (isGiven(resources, 'claims')) errors.push(forbiddenValue(`${path}.claims`, 'claims may not be set for Resources at pod-level'))
  validatePodLevelAmounts(errors, resources, path)
  validateUsedClaims(errors, resources, path, context)
  const requests = amountsIn(resources, 'requests')
  const limits = amountsIn(resources, 'limits')
  for (const [name, amount] of containerAmounts(spec, 'requests')) refuseLess(errors, requests, { name, amount, side: 'requests', path })
  for (const [name, amount] of containerAmounts(spec, 'limits')) {
    if (isHugePages(name)) refuseLess(errors, limits, { name, amount, side: 'limits', path })
  }
  validateContainerLimits(errors, spec, limits, path)
}

interface Sum {
  readonly name: string
  /** The sum of all containers. */
  readonly amount: Quantity
  readonly side: Side
  readonly path: string
}

function refuseLess(errors: FieldError[], amounts: ReadonlyMap<string, Quantity>, { name, amount, side, path }: Sum): void {
  const own = amounts.get(name)
  if (own === undefined || compareQuantities(amount, own) <= 0) return
  const detail = `must be greater than or equal to aggregate container ${side} of ${printQuantity(amount)}`
  errors.push(invalidValue(`${path}.${side}[${name}]`, printQuantity(own), detail))
}

/** Checks that no container's limit exceeds the pod-level limit, like kube-apiserver. */
function validateContainerLimits(errors: FieldError[], spec: Part, most: ReadonlyMap<string, Quantity>, path: string): void {
  for (const [index, container] of itemsOf(spec, 'containers').entries()) {
    for (const [name, limit] of amountsIn(partOf(container, 'resources'), 'limits')) {
      const own = most.get(name)
      if (own === undefined || compareQuantities(limit, own) <= 0) continue
      const detail = `must be less than or equal to pod limits of ${printQuantity(own)}`
      errors.push(invalidValue(`${path}.containers[${index}][${name}].limits`, printQuantity(limit), detail))
    }
  }
}

function amountsIn(resources: Part, side: Side): ReadonlyMap<string, Quantity> {
  const amounts = new Map<string, Quantity>()
  for (const [name, text] of Object.entries(partOf(resources, side))) {
    const quantity = parseQuantity(String(text))
    if (quantity !== undefined) amounts.set(name, quantity)
  }
  return amounts
}
