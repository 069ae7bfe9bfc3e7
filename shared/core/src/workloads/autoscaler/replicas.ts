import { parseQuantity, roundUpQuantity } from '../../meta/quantity.ts'
import type { Pod } from '../pods.ts'

const int32Max = 2 ** 31 - 1

/** The last measurement of a Pod, in thousandths of the resource's unit. */
export interface Sample {
  readonly milli: number
  /** End of the time that it covers, in milliseconds since 1970. */
  readonly atMs: number
  readonly windowMs: number
}

/** A ratio of use to target within these bounds changes nothing: 0.1 is ten percent. */
interface Tolerance {
  readonly down: number
  readonly up: number
}

export interface ResourceUse {
  readonly resource: string
  readonly pods: readonly Pod[]
  /** By names of Pods. */
  readonly samples: ReadonlyMap<string, Sample>
  readonly currentReplicas: number
  /** Percent of the requests. */
  readonly targetUtilization: number
  readonly tolerance: Tolerance
  /** Time after the start of a Pod in which its use of CPU may be that of its start. */
  readonly initializationMs: number
  /** Time after the start in which a Pod that is not ready has never been. */
  readonly readinessDelayMs: number
}

export type Proposal =
  | { readonly kind: 'replicas'; readonly replicas: number; readonly utilization: number; readonly averageMilli: number }
  | { readonly kind: 'error'; readonly message: string }

/**
 * Replicas for a target utilization of the requests. Pods without a sample count as if they used the target when there are too many Pods, and
 * nothing when there are too few; Pods that are not ready count as nothing when there are too few.
 *
 *   3 Pods at 90m of 100m, target 50 %    ratio 1.8 → 6
 *   4 Pods, one at 300m, three without    ratio of all 1.5 → 6
 */
export function resourceReplicas(use: ResourceUse, nowMs: number): Proposal {
  const { resource, pods, currentReplicas, targetUtilization, tolerance } = use
  if (use.samples.size === 0)
    return failure(`unable to get metrics for resource ${resource}: no metrics returned from resource metrics API`)
  if (pods.length === 0) return failure('no pods returned by selector while calculating replica count')
  const groups = groupPods(use, nowMs)
  const values = new Map([...use.samples].map(([name, { milli }]) => [name, milli]))
  for (const name of [...groups.ignored, ...groups.unready]) values.delete(name)
  if (values.size === 0) return failure('did not receive metrics for targeted pods (pods might be unready)')
  const requests = new Map<string, number>()
  for (const pod of pods) {
    const request = requestOf(pod, resource)
    if (typeof request === 'string') return failure(request)
    requests.set(nameOf(pod), request)
  }
  const first = ratioOf(values, requests, targetUtilization)
  if (first === undefined) return failure('no metrics returned matched known pods')
  const { utilization, averageMilli } = first
  const propose = (replicas: number): Proposal => ({ kind: 'replicas', replicas, utilization, averageMilli })
  const addsUnready = groups.unready.size > 0 && first.ratio > 1
  if (!addsUnready && groups.missing.size === 0) {
    return propose(isWithin(tolerance, first.ratio) ? currentReplicas : Math.ceil(first.ratio * groups.readyCount))
  }
  if (first.ratio < 1) {
    for (const name of groups.missing) values.set(name, Math.trunc(((requests.get(name) ?? 0) * Math.max(100, targetUtilization)) / 100))
  } else if (first.ratio > 1) {
    for (const name of groups.missing) values.set(name, 0)
  }
  if (addsUnready) for (const name of groups.unready) values.set(name, 0)
  const second = ratioOf(values, requests, targetUtilization)?.ratio ?? 1
  const turns = (first.ratio < 1 && second > 1) || (first.ratio > 1 && second < 1)
  if (isWithin(tolerance, second) || turns) return propose(currentReplicas)
  const replicas = Math.ceil(second * values.size)
  const isBackwards = (second < 1 && replicas > currentReplicas) || (second > 1 && replicas < currentReplicas)
  return propose(isBackwards ? currentReplicas : replicas)
}

function failure(message: string): Proposal {
  return { kind: 'error', message }
}

function nameOf({ metadata: { name = '' } }: Pod): string {
  return name
}

function isWithin({ down, up }: Tolerance, ratio: number): boolean {
  return 1 - down <= ratio && ratio <= 1 + up
}

interface Groups {
  readonly readyCount: number
  readonly unready: ReadonlySet<string>
  readonly missing: ReadonlySet<string>
  readonly ignored: ReadonlySet<string>
}

function groupPods(use: ResourceUse, nowMs: number): Groups {
  const [unready, missing, ignored] = [new Set<string>(), new Set<string>(), new Set<string>()]
  let readyCount = 0
  for (const pod of use.pods) {
    const sample = use.samples.get(nameOf(pod))
    if (pod.metadata.deletionTimestamp != null || pod.status.phase === 'Failed') ignored.add(nameOf(pod))
    else if (pod.status.phase === 'Pending') unready.add(nameOf(pod))
    else if (sample === undefined) missing.add(nameOf(pod))
    else if (use.resource === 'cpu' && isUnready(pod, sample, use, nowMs)) unready.add(nameOf(pod))
    else readyCount++
  }
  return { readyCount, unready, missing, ignored }
}

function isUnready({ status }: Pod, sample: Sample, { initializationMs, readinessDelayMs }: ResourceUse, nowMs: number): boolean {
  const condition = status.conditions?.find(({ type }) => type === 'Ready')
  const [startMs, sinceMs] = [Date.parse(status.startTime ?? ''), Date.parse(condition?.lastTransitionTime ?? '')]
  if (condition === undefined || Number.isNaN(startMs)) return true
  const isFalse = condition.status === 'False'
  if (startMs + initializationMs > nowMs) return isFalse || sample.atMs < sinceMs + sample.windowMs
  return isFalse && startMs + readinessDelayMs > sinceMs
}

/** The request of a Pod, or the text that says why there is none. */
function requestOf({ metadata, spec }: Pod, resource: string): number | string {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  let total = 0
  for (const { name, resources } of [...(spec.containers ?? []), ...sidecars]) {
    const quantity = parseQuantity(resources?.requests?.[resource] ?? '')
    if (quantity === undefined) return `missing request for ${resource} in container ${name} of Pod ${metadata.name}`
    total += Number(roundUpQuantity(quantity, -3))
  }
  return total
}

function ratioOf(values: ReadonlyMap<string, number>, requests: ReadonlyMap<string, number>, target: number) {
  let [used, requested, count] = [0, 0, 0]
  for (const [name, value] of values) {
    const request = requests.get(name)
    if (request === undefined) continue
    used += value
    requested += request
    count++
  }
  if (requested === 0) return undefined
  const utilization = Math.trunc((used * 100) / requested)
  return { ratio: utilization / target, utilization, averageMilli: Math.trunc(used / count) }
}

interface ValueUse {
  readonly currentReplicas: number
  readonly targetMilli: number
  readonly tolerance: Tolerance
  readonly readyPods: number
}

/** Replicas for a target of one value, of an object or of an external metric. From zero replicas on, ready Pods do not count. */
export function valueReplicas(usedMilli: number, { currentReplicas, targetMilli, tolerance, readyPods }: ValueUse): number {
  const ratio = usedMilli / targetMilli
  if (currentReplicas === 0) return Math.ceil(ratio)
  return isWithin(tolerance, ratio) ? currentReplicas : Math.min(int32Max, Math.ceil(ratio * readyPods))
}

interface AverageUse {
  readonly statusReplicas: number
  readonly targetMilli: number
  readonly tolerance: Tolerance
}

/** Replicas for a target of a value for each Pod. `averageMilli` is the lowest int64 where there is no Pod. */
export function averageReplicas(usedMilli: number, { statusReplicas, targetMilli, tolerance }: AverageUse) {
  const isKept = isWithin(tolerance, usedMilli / (targetMilli * statusReplicas))
  const replicas = isKept ? statusReplicas : Math.min(int32Max, Math.ceil(usedMilli / targetMilli))
  return { replicas, averageMilli: statusReplicas === 0 ? -(2 ** 63) : Math.ceil(usedMilli / statusReplicas) }
}
