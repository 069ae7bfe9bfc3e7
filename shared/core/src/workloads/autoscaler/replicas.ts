import { parseQuantity, type Quantity, roundUpQuantity } from '../../meta/quantity.ts'
import { hasPodAmounts } from '../../quota/pod-amounts.ts'
import { amountsWithOverhead } from '../../quota/pod-usage.ts'
import type { Pod } from '../pods.ts'

const int32Max = 2 ** 31 - 1
const int64Bound = 2 ** 63
/** Below this level, a Pod without a sample counts as if it used its request, whatever the target. */
const fullFallbackSince = 26
/** The first level that names the container without a request. */
const containerNamedSince = 26
/** Below this level, another text says that no ready Pod has a sample. */
const targetedTextSince = 27
/** Below this level, Pods without a sample count as using nothing for a target value, even if the others use exactly the target. */
const exactValueSince = 28
const sidecarsSince = 29
/** Below this level, a Pod without the measured container has a request of zero. */
const containerRequiredSince = 35
/** Below this level, a missing request is reported before missing samples. */
const samplesFirstSince = 34

export const noPods = 'no pods returned by selector while calculating replica count'

/** The last sample of a Pod, in thousandths of the unit. */
export interface Sample {
  readonly milli: number
  /** The end of the sample's window, in milliseconds since 1970. */
  readonly atMs: number
  readonly windowMs: number
}

/** A usage ratio within these bounds changes nothing; 0.1 means ten percent. */
export interface Tolerance {
  readonly down: number
  readonly up: number
}

/** Samples by Pod name. */
export type Samples = ReadonlyMap<string, Sample>

/** The Pods of the scaled object, and the rules for counting them. */
export interface PodsUse {
  readonly pods: readonly Pod[]
  readonly currentReplicas: number
  readonly tolerance: Tolerance
  /** Time after a Pod's start in which its CPU usage may come from its initialization. */
  readonly initializationMs: number
  /** Time after the start in which an unready Pod counts as never ready. */
  readonly readinessDelayMs: number
  /** The API level. Requests of sidecars count from 29 on. */
  readonly level: number
}

export interface ResourceUse extends PodsUse {
  readonly resource: string
  /** Undefined for all containers of a Pod. */
  readonly container?: string | undefined
  readonly samples: Samples
  /** Percentage of the requests. */
  readonly targetUtilization: number
  /** True if pod-level requests take precedence over those of containers. */
  readonly hasPodRequests: boolean
}

export interface AverageValueUse extends PodsUse {
  /** Undefined for a metric that is not a resource. */
  readonly resource?: string
  readonly samples: Samples
  readonly targetMilli: number
}

export type Proposal =
  | {
      readonly kind: 'replicas'
      readonly replicas: number
      readonly averageMilli: number
      /** Percentage of the requests; undefined for values. */
      readonly utilization?: number
    }
  | { readonly kind: 'error'; readonly message: string }

/**
 * Computes replicas for a target utilization of requests. Pods without a sample count as using the target when scaling down, and
 * nothing when scaling up; unready Pods count as using nothing when scaling up.
 *
 *   3 Pods at 90m of 100m, target 50 %    ratio 1.8 → 6
 *   4 Pods, one at 300m, three without    ratio of all 1.5 → 6
 */
export function resourceReplicas(use: ResourceUse, nowMs: number): Proposal {
  const { resource, pods, targetUtilization, level } = use
  return podReplicas(use, resource, nowMs, () => {
    const requests = new Map<string, number>()
    for (const pod of pods) {
      const request = requestOf(pod, use)
      if (typeof request === 'string') return request
      requests.set(nameOf(pod), request)
    }
    const fallback = level < fullFallbackSince ? 100 : Math.max(100, targetUtilization)
    return {
      ratioOf: (values) => ratioOf(values, requests, targetUtilization),
      missingMilli: (name, ratio) => (ratio < 1 ? Math.trunc(((requests.get(name) ?? 0) * fallback) / 100) : ratio > 1 ? 0 : undefined),
    }
  })
}

/** Computes replicas for a target value per Pod. Unready Pods and Pods without a sample are treated as for a utilization. */
export function averageValueReplicas(use: AverageValueUse, nowMs: number): Proposal {
  const { resource = '', targetMilli, level } = use
  return podReplicas(use, resource, nowMs, () => ({
    ratioOf: (values) => {
      const averageMilli = Math.trunc(sumOf(values.values()) / values.size)
      return { ratio: averageMilli / targetMilli, averageMilli }
    },
    missingMilli: (_, ratio) => (ratio < 1 ? targetMilli : ratio > 1 || level < exactValueSince ? 0 : undefined),
  }))
}

interface Ratio {
  readonly ratio: number
  readonly averageMilli: number
  readonly utilization?: number
}

/** Computes the usage ratio of samples. */
interface Measure {
  /** Undefined if no sample belongs to a known Pod. */
  ratioOf(values: ReadonlyMap<string, number>): Ratio | undefined
  /** The value of a Pod without a sample; undefined if it does not count. */
  missingMilli(name: string, ratio: number): number | undefined
}

/** Computes replicas; `measureOf` returns a text if there is no measure. */
function podReplicas(
  use: PodsUse & { readonly samples: Samples },
  resource: string,
  nowMs: number,
  measureOf: () => Measure | string,
): Proposal {
  const { pods, samples, currentReplicas, tolerance, level } = use
  if (pods.length === 0) return failure(noPods)
  const groups = groupPods(use, resource, nowMs)
  const values = new Map([...samples].map(([name, { milli }]) => [name, milli]))
  for (const name of [...groups.ignored, ...groups.unready]) values.delete(name)
  const of = level < targetedTextSince ? 'any ready pods' : 'targeted pods (pods might be unready)'
  const unsampled = values.size === 0 ? failure(`did not receive metrics for ${of}`) : undefined
  if (unsampled !== undefined && level >= samplesFirstSince) return unsampled
  const measure = measureOf()
  if (typeof measure === 'string') return failure(measure)
  if (unsampled !== undefined) return unsampled
  const first = measure.ratioOf(values)
  if (first === undefined) return failure('no metrics returned matched known pods')
  const { ratio, ...shown } = first
  const propose = (replicas: number): Proposal => ({ kind: 'replicas', replicas, ...shown })
  const addsUnready = groups.unready.size > 0 && ratio > 1
  if (!addsUnready && groups.missing.size === 0) {
    return propose(isWithin(tolerance, ratio) ? currentReplicas : Math.ceil(ratio * groups.readyCount))
  }
  for (const name of groups.missing) {
    const milli = measure.missingMilli(name, ratio)
    if (milli !== undefined) values.set(name, milli)
  }
  if (addsUnready) for (const name of groups.unready) values.set(name, 0)
  const second = measure.ratioOf(values)?.ratio ?? 1
  const turns = (ratio < 1 && second > 1) || (ratio > 1 && second < 1)
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

function groupPods(use: PodsUse & { readonly samples: Samples }, resource: string, nowMs: number) {
  const [unready, missing, ignored] = [new Set<string>(), new Set<string>(), new Set<string>()]
  let readyCount = 0
  for (const pod of use.pods) {
    const sample = use.samples.get(nameOf(pod))
    if (pod.metadata.deletionTimestamp != null || pod.status.phase === 'Failed') ignored.add(nameOf(pod))
    else if (pod.status.phase === 'Pending') unready.add(nameOf(pod))
    else if (sample === undefined) missing.add(nameOf(pod))
    else if (resource === 'cpu' && isUnready(pod, sample, use, nowMs)) unready.add(nameOf(pod))
    else readyCount++
  }
  return { readyCount, unready, missing, ignored }
}

function isUnready({ status }: Pod, sample: Sample, { initializationMs, readinessDelayMs }: PodsUse, nowMs: number): boolean {
  const condition = status.conditions?.find(({ type }) => type === 'Ready')
  const [startMs, sinceMs] = [Date.parse(status.startTime ?? ''), Date.parse(condition?.lastTransitionTime ?? '')]
  if (condition === undefined || Number.isNaN(startMs)) return true
  const isFalse = condition.status === 'False'
  if (startMs + initializationMs > nowMs) return isFalse || sample.atMs < sinceMs + sample.windowMs
  return isFalse && startMs + readinessDelayMs > sinceMs
}

/** The request of a Pod or of its container in thousandths, or the reason why there is none. */
function requestOf({ metadata, spec }: Pod, { resource, container, level, hasPodRequests }: ResourceUse): number | string {
  if (hasPodRequests && container === undefined && hasPodAmounts(spec)) {
    const request = amountsWithOverhead({ spec }, 'requests').get(resource)
    return request === undefined ? `missing pod-level request for ${resource} in Pod ${metadata.name}` : milliOf(request)
  }
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => level >= sidecarsSince && restartPolicy === 'Always')
  const containers = [...(spec.containers ?? []), ...sidecars].filter(({ name }) => container === undefined || name === container)
  if (container !== undefined && containers.length === 0 && level >= containerRequiredSince)
    return `container ${container} not found in Pod ${metadata.name}`
  let total = 0
  for (const { name, resources } of containers) {
    const quantity = parseQuantity(resources?.requests?.[resource] ?? '')
    if (quantity === undefined) {
      const of = level < containerNamedSince ? '' : ` in container ${name} of Pod ${metadata.name}`
      return `missing request for ${resource}${of}`
    }
    total += milliOf(quantity)
  }
  return total
}

/** A quantity in thousandths, rounded up, limited to an int64. */
export function milliOf(quantity: Quantity): number {
  return Math.max(-int64Bound, Math.min(int64Bound, Number(roundUpQuantity(quantity, -3))))
}

function sumOf(values: Iterable<number>): number {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

function ratioOf(values: ReadonlyMap<string, number>, requests: ReadonlyMap<string, number>, target: number): Ratio | undefined {
  const known = [...values].filter(([name]) => requests.has(name))
  const used = sumOf(known.map(([, value]) => value))
  const requested = sumOf(known.map(([name]) => requests.get(name) ?? 0))
  if (requested === 0) return undefined
  const utilization = Math.trunc((used * 100) / requested)
  return { ratio: utilization / target, utilization, averageMilli: Math.trunc(used / known.length) }
}

interface ValueUse {
  readonly currentReplicas: number
  readonly targetMilli: number
  readonly tolerance: Tolerance
  /** The number of ready Pods; undefined if it is unknown. */
  readonly readyPods: number | undefined
}

/**
 * Computes replicas for a single target value, of an object or an external metric. From zero replicas, the number of ready Pods does not matter.
 * Undefined if the number of ready Pods is needed.
 */
export function valueReplicas(usedMilli: number, { currentReplicas, targetMilli, tolerance, readyPods }: ValueUse): number | undefined {
  const ratio = usedMilli / targetMilli
  if (currentReplicas === 0) return Math.ceil(ratio)
  if (isWithin(tolerance, ratio)) return currentReplicas
  return readyPods === undefined ? undefined : Math.min(int32Max, Math.ceil(ratio * readyPods))
}

interface AverageUse {
  readonly statusReplicas: number
  readonly targetMilli: number
  readonly tolerance: Tolerance
}

/** Computes replicas for a target value per Pod. `averageMilli` is the minimum int64 if there are no Pods. */
export function averageReplicas(usedMilli: number, { statusReplicas, targetMilli, tolerance }: AverageUse) {
  const isKept = isWithin(tolerance, usedMilli / (targetMilli * statusReplicas))
  const replicas = isKept ? statusReplicas : Math.min(int32Max, Math.ceil(usedMilli / targetMilli))
  return { replicas, averageMilli: statusReplicas === 0 ? -int64Bound : Math.ceil(usedMilli / statusReplicas) }
}
