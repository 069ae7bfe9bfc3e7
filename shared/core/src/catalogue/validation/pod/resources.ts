import { quantity as quantityNode } from '../../../description/values.ts'
import { checkQualifiedName, type FieldError, type LevelText, textSince } from '../../../meta/index.ts'
import { compareQuantities, isWholeQuantity, parseQuantity, quantitySign, roundUpQuantity } from '../../../meta/quantity.ts'
import { hugePagesPrefix, isExtended, isHugePages, isNative } from '../../../meta/resource-names.ts'
import { isPodLevelResource } from '../../../quota/pod-amounts.ts'
import { goValue } from '../../../schema/go-value.ts'
import { forbiddenValue, invalidResourceName, invalidValue, requiredValue, unsupportedValue } from '../../../validation/field-errors.ts'
import { type Part, partOf } from '../../../validation/part.ts'

/** Unprefixed resources that a container may request, besides huge pages. */
export const containerResources = new Set(['cpu', 'memory', 'ephemeral-storage'])

/** All unprefixed resources; those that containers cannot request are counted by quotas. */
const standardResources = new Set([
  ...['cpu', 'memory', 'ephemeral-storage', 'storage', 'pods', 'services', 'replicationcontrollers', 'resourcequotas', 'secrets'],
  ...['configmaps', 'persistentvolumeclaims', 'requests.cpu', 'requests.memory', 'requests.storage', 'requests.ephemeral-storage'],
  ...['limits.cpu', 'limits.memory', 'limits.ephemeral-storage', 'services.nodeports', 'services.loadbalancers'],
])

/** Adds the errors of a resource's name at a path. */
type NameRule = (errors: FieldError[], name: string, path: string) => void

const ofContainers: NameRule = (errors, name, path) => {
  if (!containerResources.has(name)) validateResourceName(errors, name, path)
}

/** Validates the requests and limits of a container. */
export function validateResources(errors: FieldError[], resources: Part, path: string): void {
  validateAmounts(errors, resources, path, ofContainers)
}

const ofPods: NameRule = (errors, name, path) => {
  const before = errors.length
  validateAnyResourceName(errors, name, path)
  if (errors.length > before || isPodLevelResource(name)) return
  errors.push(unsupportedValue(path, name, ['cpu', hugePagesPrefix, 'memory']))
}

/** Validates the pod-level requests and limits. */
export function validatePodLevelAmounts(errors: FieldError[], resources: Part, path: string): void {
  validateAmounts(errors, resources, path, ofPods)
}

function validateAmounts(errors: FieldError[], resources: Part, path: string, validateName: NameRule): void {
  const limits = partOf(resources, 'limits')
  const requests = partOf(resources, 'requests')
  for (const name in limits) {
    const amount = { name, amount: String(limits[name]), at: `${path}.limits` }
    validateAmount(errors, amount, validateName)
    validatePages(errors, amount)
  }
  for (const name in requests) {
    const amount = { name, amount: String(requests[name]), at: `${path}.requests` }
    validateAmount(errors, amount, validateName)
    validateRequest(errors, { name, request: amount.amount, limit: limits[name] }, path)
    validatePages(errors, amount)
  }
  const all = [...Object.keys(limits), ...Object.keys(requests)]
  const hasOrdinary = all.includes('cpu') || all.includes('memory')
  if (!hasOrdinary && all.some(isHugePages)) errors.push(forbiddenValue(path, 'HugePages require cpu or memory'))
}

interface Request {
  readonly name: string
  readonly request: string
  readonly limit: unknown
}

function validateRequest(errors: FieldError[], { name, request, limit }: Request, path: string): void {
  if (limit === undefined) {
    if (!mayExceed(name)) errors.push(requiredValue(`${path}.limits`, 'Limit must be set for non overcommitable resources'))
    return
  }
  if (request === limit) return
  const [asked, most] = [parseQuantity(request), parseQuantity(String(limit))]
  if (asked === undefined || most === undefined) return
  const difference = compareQuantities(asked, most)
  const refuse = (bound: string): void => void errors.push(invalidValue(`${path}.requests`, request, toLimit(bound, name, String(limit))))
  if (difference !== 0 && !mayExceed(name)) refuse('must be equal to')
  else if (difference > 0) refuse('must be less than or equal to')
}

function toLimit(bound: string, name: string, limit: string): LevelText {
  return textSince(27, { before: `${bound} ${name} limit`, after: `${bound} ${name} limit of ${limit}` })
}

interface Amount {
  readonly name: string
  readonly amount: string
  readonly at: string
}

function validateAmount(errors: FieldError[], { name, amount, at }: Amount, validateName: NameRule): void {
  const path = `${at}[${name}]`
  validateName(errors, name, path)
  const quantity = parseQuantity(amount)
  if (quantity === undefined) return
  const refuse = (detail: string): void => void errors.push(invalidValue(path, amount, detail))
  if (quantitySign(quantity) < 0) refuse('must be greater than or equal to 0')
  if (isCounted(name) && !isWholeQuantity(quantity)) refuse('must be an integer')
}

/** Huge pages can only be requested in multiples of the page size. */
function validatePages(errors: FieldError[], { name, amount, at }: Amount): void {
  const quantity = isHugePages(name) ? parseQuantity(amount) : undefined
  if (quantity === undefined) return
  const page = parseQuantity(name.slice(hugePagesPrefix.length))
  if (page === undefined || quantitySign(page) <= 0) return
  if (!isWholeQuantity(quantity) || roundUpQuantity(quantity) % roundUpQuantity(page) !== 0n) {
    errors.push(invalidValue(`${at}[${name}]`, amount, `${amount} is not positive integer multiple of ${name}`))
  }
}

/** Unprefixed resources with whole amounts. */
export const countedResources: ReadonlySet<string> = new Set([
  ...['pods', 'services', 'services.nodeports', 'services.loadbalancers', 'replicationcontrollers', 'resourcequotas', 'secrets'],
  ...['configmaps', 'persistentvolumeclaims'],
])

const isCounted = (name: string): boolean => countedResources.has(name) || isExtended(name)

/** Validates an amount of any resource at a path; `written` is the text for messages. */
export function validateAmountOf(name: string, text: string, at: string, written = text): FieldError[] {
  const quantity = parseQuantity(text)
  if (quantity === undefined) return []
  const errors = quantitySign(quantity) < 0 ? [invalidValue(at, text, 'must be greater than or equal to 0')] : []
  if (!isCounted(name) || isWholeQuantity(quantity)) return errors
  return [...errors, invalidValue(at, goValue(quantityNode(), written), 'must be an integer')]
}

/** Validates a resource name that is not in `containerResources`. */
export function validateResourceName(errors: FieldError[], name: string, path: string): void {
  validateAnyResourceName(errors, name, path)
  if (!name.includes('/')) {
    if (!isHugePages(name)) errors.push(invalidResourceName(path, name, 'must be a standard resource for containers'))
  } else if (!isNative(name) && !isExtended(name)) {
    errors.push(invalidResourceName(path, name, "doesn't follow extended resource name standard"))
  }
}

/** Validates any resource name. */
export function validateAnyResourceName(errors: FieldError[], name: string, path: string): void {
  const problems = checkQualifiedName(name)
  for (const problem of problems) errors.push(invalidResourceName(path, name, problem))
  if (problems.length > 0 || name.includes('/') || standardResources.has(name) || /^(requests\.)?hugepages-/.test(name)) return
  errors.push(invalidResourceName(path, name, 'must be a standard resource type or fully qualified'))
}

/** True for resources that may be overcommitted. */
export const mayExceed = (name: string): boolean => isNative(name) && !isHugePages(name)
