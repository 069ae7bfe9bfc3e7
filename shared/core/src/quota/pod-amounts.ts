import { addQuantities, compareQuantities, parseQuantity, type Quantity, quantitySign, zeroQuantity } from '../meta/quantity.ts'
import { isHugePages } from '../meta/resource-names.ts'
import type { PodToCount, ResourcesToCount } from './objects.ts'

type PodSpec = PodToCount['spec']

/** The two kinds of amounts of a container. */
export type Side = 'requests' | 'limits'

/**
 * The amounts of a Pod's containers. Main containers and sidecars run together; init containers run one after another,
 * each beside the sidecars before it. KEP-753.
 *
 *   containers 1, 2; sidecar 1; init 3:   max(1 + 2 + 1, 1 + 3) = 4
 */
export function containerAmounts(spec: PodSpec, side: Side): Map<string, Quantity> {
  const total = new Map<string, Quantity>()
  for (const container of spec?.containers ?? []) addAll(total, quantitiesOf(container.resources, side))
  const sidecars = new Map<string, Quantity>()
  const initial = new Map<string, Quantity>()
  for (const container of spec?.initContainers ?? []) {
    const amounts = quantitiesOf(container.resources, side)
    if (container.restartPolicy === 'Always') {
      addAll(total, amounts)
      addAll(sidecars, amounts)
      raise(initial, sidecars)
    } else {
      const together = new Map(sidecars)
      addAll(together, amounts)
      raise(initial, together)
    }
  }
  raise(total, initial)
  return total
}

/** The amounts of a Pod: pod-level amounts replace those of its containers. KEP-2837. */
export function podAmounts(spec: PodSpec, side: Side): Map<string, Quantity> {
  const total = containerAmounts(spec, side)
  for (const [name, quantity] of quantitiesOf(spec?.resources, side)) if (isPodLevelResource(name)) total.set(name, quantity)
  return total
}

/** True if a resource can have pod-level amounts. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name)
}

/** True if a Pod has pod-level amounts. */
export function hasPodAmounts(spec: PodSpec): boolean {
  return [spec?.resources?.requests, spec?.resources?.limits].some((amounts) => Object.keys(amounts ?? {}).some(isPodLevelResource))
}

/** The classes by which nodes select Pods for eviction. */
export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

/** Guaranteed: everything has limits and equal requests. BestEffort: neither exists. Burstable: the rest. Pod-level amounts decide. */
export function qosClassOf(spec: PodSpec): QosClass {
  if (hasPodAmounts(spec)) return classOf(spec?.resources)
  const classes = new Set([...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ resources }) => classOf(resources)))
  const [only = 'BestEffort'] = classes
  return classes.size > 1 ? 'Burstable' : only
}

function classOf(resources: ResourcesToCount | undefined): QosClass {
  const [cpu, memory] = ['cpu', 'memory'].map((name) => classOfAmount(resources?.requests?.[name], resources?.limits?.[name]))
  return cpu !== undefined && cpu === memory ? cpu : 'Burstable'
}

function classOfAmount(request: string | undefined, limit: string | undefined): QosClass {
  const [asked = zeroQuantity, most = zeroQuantity] = [parseQuantity(request ?? '0'), parseQuantity(limit ?? '0')]
  if (compareQuantities(asked, most) !== 0) return 'Burstable'
  return quantitySign(asked) === 0 ? 'BestEffort' : 'Guaranteed'
}

function quantitiesOf(resources: ResourcesToCount | undefined, side: Side): readonly (readonly [string, Quantity])[] {
  return Object.entries(resources?.[side] ?? {}).flatMap(([name, text]): [string, Quantity][] => {
    const quantity = parseQuantity(text)
    return quantity === undefined ? [] : [[name, quantity]]
  })
}

/** Adds amounts to a sum. */
export function addAll(total: Map<string, Quantity>, amounts: Iterable<readonly [string, Quantity]>): void {
  for (const [name, quantity] of amounts) {
    const known = total.get(name)
    total.set(name, known === undefined ? quantity : addQuantities(known, quantity))
  }
}

/** Raises amounts to at least those of another list. */
function raise(total: Map<string, Quantity>, amounts: Iterable<readonly [string, Quantity]>): void {
  for (const [name, quantity] of amounts) {
    const known = total.get(name)
    if (known === undefined || compareQuantities(quantity, known) > 0) total.set(name, quantity)
  }
}
