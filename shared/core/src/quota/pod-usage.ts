import { addQuantities, compareQuantities, parseQuantity, type Quantity, quantitySign, toQuantity } from '../meta/quantity.ts'
import { isExtended } from '../meta/resource-names.ts'
import { parseInstant } from '../meta/time.ts'
import type { Amounts } from './amounts.ts'
import type { ContainerToCount, PodToCount } from './objects.ts'

const one = toQuantity(1)

/** Resources that containers have to state where a quota limits them. */
const stated = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']
const measured = new Set([...stated, 'ephemeral-storage', 'requests.ephemeral-storage', 'limits.ephemeral-storage'])

/** True if pods use the resource, in any amount. */
export function isPodResource(name: string): boolean {
  if (name === 'pods' || name === 'count/pods' || measured.has(name)) return true
  if (/^(requests\.)?hugepages-/.test(name)) return true
  return name.startsWith('requests.') && isExtended(name.slice('requests.'.length))
}

/** The usage of a pod. One that has ended, or should have ended by now, uses no resources, but still exists. */
export function podUsage(pod: PodToCount, nowMs: number): Amounts {
  const usage = new Map<string, Quantity>([['count/pods', one]])
  if (hasEnded(pod, nowMs)) return usage
  usage.set('pods', one)
  addMeasured(usage, podAmounts(pod, 'requests'), podAmounts(pod, 'limits'))
  return usage
}

function hasEnded({ metadata, status }: PodToCount, nowMs: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata ?? {}
  if (deletionTimestamp == null || deletionGracePeriodSeconds === undefined) return false
  const at = parseInstant(deletionTimestamp)
  return at !== undefined && nowMs > (at.seconds + deletionGracePeriodSeconds) * 1000
}

type Side = 'requests' | 'limits'

/** Containers run together; containers that initialize run one after the other, before them. */
function podAmounts({ spec }: PodToCount, side: Side): Map<string, Quantity> {
  const total = new Map<string, Quantity>()
  for (const container of spec?.containers ?? []) {
    for (const [name, quantity] of amountsOf(container, side)) add(total, name, quantity)
  }
  for (const container of spec?.initContainers ?? []) {
    for (const [name, quantity] of amountsOf(container, side)) {
      const known = total.get(name)
      if (known === undefined || compareQuantities(quantity, known) > 0) total.set(name, quantity)
    }
  }
  for (const [name, text] of Object.entries(spec?.overhead ?? {})) {
    const quantity = parseQuantity(text)
    // Overhead is limited only where something is.
    if (quantity !== undefined && (side === 'requests' || total.has(name))) add(total, name, quantity)
  }
  return total
}

function amountsOf({ resources }: ContainerToCount, side: Side): [string, Quantity][] {
  return Object.entries(resources?.[side] ?? {}).flatMap(([name, text]): [string, Quantity][] => {
    const quantity = parseQuantity(text)
    return quantity === undefined ? [] : [[name, quantity]]
  })
}

function add(total: Map<string, Quantity>, name: string, quantity: Quantity): void {
  const known = total.get(name)
  total.set(name, known === undefined ? quantity : addQuantities(known, quantity))
}

function addMeasured(usage: Map<string, Quantity>, requests: Map<string, Quantity>, limits: Map<string, Quantity>): void {
  for (const [name, quantity] of requests) {
    if (name === 'cpu' || name === 'memory' || name === 'ephemeral-storage' || name.startsWith('hugepages-')) {
      usage.set(name, quantity)
      usage.set(`requests.${name}`, quantity)
    } else if (isExtended(name)) usage.set(`requests.${name}`, quantity)
  }
  for (const name of ['cpu', 'memory', 'ephemeral-storage']) {
    const limit = limits.get(name)
    if (limit !== undefined) usage.set(`limits.${name}`, limit)
  }
}

/** Why a pod cannot be counted for these resources: containers that say nothing of some; undefined: it can. */
export function podOmissions({ spec }: PodToCount, names: readonly string[]): string | undefined {
  const omissions = stated
    .filter((name) => names.includes(name))
    .sort()
    .flatMap((name) => {
      const silent = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].filter((container) => !states(container, name))
      const containers = [...new Set(silent.map((container) => container.name ?? ''))].sort()
      return containers.length === 0 ? [] : [`${name} for: ${containers.join(',')}`]
    })
  return omissions.length === 0 ? undefined : `must specify ${omissions.join('; ')}`
}

function states({ resources }: ContainerToCount, name: string): boolean {
  const [side, resource] = name.startsWith('limits.')
    ? (['limits', name.slice(7)] as const)
    : (['requests', name.replace('requests.', '')] as const)
  return resources?.[side]?.[resource] !== undefined
}

/** A pod of which no container asks for processor time or memory, nor is limited in them. */
export function isBestEffort({ spec }: PodToCount): boolean {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].every(({ resources }) =>
    [resources?.requests, resources?.limits].every((amounts) =>
      ['cpu', 'memory'].every((name) => {
        const quantity = parseQuantity(amounts?.[name] ?? '0')
        return quantity === undefined || quantitySign(quantity) === 0
      }),
    ),
  )
}
