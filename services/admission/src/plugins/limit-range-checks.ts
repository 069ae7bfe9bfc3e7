import { compareQuantities, printQuantity, type Quantity, quantitySign, roundUpQuantity } from '@orch/core/meta'
import { podAmounts } from '@orch/core/quota'
import type { BuiltIn } from '@orch/core/schema'
import { type LimitItem, type QuantityMap, quantitiesOf } from './limit-range.ts'
import type { Pod, Resources } from './pod.ts'

/** A requested quantity, and its limits. */
interface Usage {
  readonly requests: QuantityMap
  readonly limits: QuantityMap
}

/** The violations of a Pod, each as a sentence. */
export function checkPod(pod: Pod, limits: readonly LimitItem[]): string[] {
  const containers = [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])].map(({ resources }) => usageOf(resources))
  return limits.flatMap((item) => {
    if (item.type === 'Container') return containers.flatMap((usage) => checkUsage(item, usage))
    return item.type === 'Pod' ? checkUsage(item, usageOfPod(pod)) : []
  })
}

/** The violations of a claim. A claim has no limits: its request counts as its limit. */
export function checkClaim({ spec }: BuiltIn<'core/v1.PersistentVolumeClaim'>, limits: readonly LimitItem[]): string[] {
  const { requests } = usageOf(spec.resources)
  return limits
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap(({ type, min, max }) => [
      ...problems(min, (name, bound) => tooLittle({ name, type, bound, request: requests.get(name), limit: undefined })),
      ...problems(max, (name, bound) => {
        const usage = `maximum ${name} usage per ${type} is ${printQuantity(bound)}`
        const request = requests.get(name)
        if (request === undefined) return `${usage}.  No request is specified`
        return isMore(request, bound) ? `${usage}, but request is ${printQuantity(request)}` : undefined
      }),
    ])
}

function checkUsage({ type, min, max, maxLimitRequestRatio }: LimitItem, { requests, limits }: Usage): string[] {
  const check = (evaluate: (constraint: Constraint) => string | undefined) => (name: string, bound: Quantity) =>
    evaluate({ name, type, bound, request: requests.get(name), limit: limits.get(name) })
  return [...problems(min, check(tooLittle)), ...problems(max, check(tooMuch)), ...problems(maxLimitRequestRatio, check(tooWide))]
}

interface Constraint {
  readonly name: string
  readonly type: string
  readonly bound: Quantity
  readonly request: Quantity | undefined
  readonly limit: Quantity | undefined
}

function tooLittle({ name, type, bound, request, limit }: Constraint): string | undefined {
  const usage = `minimum ${name} usage per ${type} is ${printQuantity(bound)}`
  if (request === undefined) return `${usage}.  No request is specified`
  if (isMore(bound, request)) return `${usage}, but request is ${printQuantity(request)}`
  return limit !== undefined && isMore(bound, limit) ? `${usage}, but limit is ${printQuantity(limit)}` : undefined
}

function tooMuch({ name, type, bound, request, limit }: Constraint): string | undefined {
  const usage = `maximum ${name} usage per ${type} is ${printQuantity(bound)}`
  if (limit === undefined) return `${usage}.  No limit is specified`
  if (isMore(limit, bound)) return `${usage}, but limit is ${printQuantity(limit)}`
  return request !== undefined && isMore(request, bound) ? `${usage}, but request is ${printQuantity(request)}` : undefined
}

function tooWide({ name, type, bound, request, limit }: Constraint): string | undefined {
  const ratio = `${name} max limit to request ratio per ${type} is ${printQuantity(bound)}`
  if (request === undefined || quantitySign(request) === 0) return `${ratio}, but no request is specified or request is 0`
  if (limit === undefined || quantitySign(limit) === 0) return `${ratio}, but no limit is specified or limit is 0`
  const given = toNumber(limit) / toNumber(request)
  return given > toNumber(bound) ? `${ratio}, but provided ratio is ${given.toFixed(6)}` : undefined
}

/** In billionths, the finest unit. */
function toNumber(quantity: Quantity): number {
  return Number(roundUpQuantity(quantity, -9)) / 1e9
}

function isMore(one: Quantity, other: Quantity): boolean {
  return compareQuantities(one, other) > 0
}

function problems(bounds: QuantityMap, evaluate: (name: string, bound: Quantity) => string | undefined): string[] {
  return [...bounds].map(([name, bound]) => evaluate(name, bound)).filter((problem) => problem !== undefined)
}

function usageOf(resources: Resources | null | undefined): Usage {
  return { requests: quantitiesOf(resources?.requests), limits: quantitiesOf(resources?.limits) }
}

function usageOfPod({ spec }: Pod): Usage {
  return { requests: podAmounts(spec, 'requests'), limits: podAmounts(spec, 'limits') }
}
