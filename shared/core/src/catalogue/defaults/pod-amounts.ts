import { compareQuantities, parseQuantity, printQuantity } from '../../meta/quantity.ts'
import { isHugePages } from '../../meta/resource-names.ts'
import type { PodToCount, ResourcesToCount } from '../../quota/objects.ts'
import { containerAmounts, isPodLevelResource } from '../../quota/pod-amounts.ts'

type Amounts = Readonly<Record<string, string>>
type PodSpec = NonNullable<PodToCount['spec']>

/** The first level that derives a Pod's limits from its containers: the gate PodLevelResourcesFixDefaulting. */
const limitsSince = 37

/**
 * The pod-level requests and limits, completed from the containers and from each other; undefined if the Pod has neither. Before
 * 1.37 only Pods with limits were completed.
 *
 *   limits cpu 2; containers request cpu 0.5, 0.5:   requests cpu 1
 */
export function completePodAmounts(spec: PodSpec, level: number): { requests: Amounts; limits: Amounts } | undefined {
  const given: ResourcesToCount | undefined = spec.resources
  const requested = { ...given?.requests }
  const limits: Record<string, string> = { ...given?.limits }
  if (Object.keys(requested).length + Object.keys(limits).length === 0) return undefined
  for (const [name, quantity] of containerAmounts(spec, 'limits')) {
    if (isHugePages(name) && requested[name] === undefined) limits[name] ??= printQuantity(quantity)
  }
  const requests: Record<string, string> = requested
  if (level >= limitsSince || Object.keys(limits).length > 0) {
    for (const [name, quantity] of containerAmounts(spec, 'requests')) {
      if (isPodLevelResource(name) && !isHugePages(name)) requests[name] ??= printQuantity(quantity)
    }
    for (const [name, limit] of Object.entries(limits)) if (isPodLevelResource(name)) requests[name] ??= limit
  }
  if (level >= limitsSince) limitAsContainers(limits, requests, spec)
  return { requests, limits }
}

/** Limits a Pod in each resource that all its containers limit: to their sum, or to the Pod's request if that is more. */
function limitAsContainers(limits: Record<string, string>, requests: Amounts, spec: PodSpec): void {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  const sum = containerAmounts(spec, 'limits')
  for (const [name, request] of Object.entries(requests)) {
    const limit = sum.get(name)
    const isLimited = containers.every(({ resources }) => resources?.limits?.[name] !== undefined)
    if (!isPodLevelResource(name) || limits[name] !== undefined || limit === undefined || !isLimited) continue
    const requested = parseQuantity(request)
    limits[name] = requested !== undefined && compareQuantities(requested, limit) > 0 ? request : printQuantity(limit)
  }
}
