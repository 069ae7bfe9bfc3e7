import { parseInstant, parseQuantity, type Quantity, toQuantity } from '../meta/index.ts'
import { isExtended } from '../meta/resource-names.ts'
import type { Amounts } from './amounts.ts'
import type { ContainerToCount, PodToCount } from './objects.ts'
import { addAll, hasPodAmounts, podAmounts, type Side } from './pod-amounts.ts'

const one = toQuantity(1)

/** Resources that containers must state if a quota limits them. */
const stated = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']
const measured = new Set([...stated, 'ephemeral-storage', 'requests.ephemeral-storage', 'limits.ephemeral-storage'])

/** True if Pods use the resource. */
export function isPodResource(name: string): boolean {
  if (name === 'pods' || name === 'count/pods' || measured.has(name)) return true
  if (/^(requests\.)?hugepages-/.test(name)) return true
  return name.startsWith('requests.') && isExtended(name.slice('requests.'.length))
}

/** The usage of a Pod. A Pod that has finished, or should have by now, uses no resources but still counts as an object. */
export function podUsage(pod: PodToCount, nowMs: number): Amounts {
  const usage = new Map<string, Quantity>([['count/pods', one]])
  if (hasEnded(pod, nowMs)) return usage
  usage.set('pods', one)
  addMeasured(usage, amountsWithOverhead(pod, 'requests'), amountsWithOverhead(pod, 'limits'))
  return usage
}

function hasEnded({ metadata, status }: PodToCount, nowMs: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata ?? {}
  if (deletionTimestamp == null || deletionGracePeriodSeconds === undefined) return false
  const at = parseInstant(deletionTimestamp)
  return at !== undefined && nowMs > (at.seconds + deletionGracePeriodSeconds) * 1000
}

/** The amounts of a Pod, including its overhead. */
export function amountsWithOverhead({ spec }: PodToCount, side: Side): Map<string, Quantity> {
  const total = podAmounts(spec, side)
  for (const [name, text] of Object.entries(spec?.overhead ?? {})) {
    const quantity = parseQuantity(text)
    // Overhead counts towards limits only for resources with a limit.
    if (quantity !== undefined && (side === 'requests' || total.has(name))) addAll(total, [[name, quantity]])
  }
  return total
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

/** The reason why a Pod cannot be counted for these resources, which is a container that does not state them; undefined if it can be counted or has pod-level amounts. */
export function podOmissions({ spec }: PodToCount, names: readonly string[]): string | undefined {
  if (hasPodAmounts(spec)) return undefined
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
