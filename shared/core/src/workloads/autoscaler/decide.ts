import { printTime, toInstant, withCondition } from '../../meta/index.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import type { WorkloadEvent } from '../pods.ts'
import { limitReplicas, type Timed } from './behavior.ts'
import type { MetricResult } from './metrics.ts'

export type Autoscaler = BuiltIn<'autoscaling/v2.HorizontalPodAutoscaler'>
type AutoscalerStatus = Autoscaler['status']

/** The rules of a level, and settings. */
export interface AutoscalerRules {
  readonly level: number
  /** True if the gate HPAScaleToZero is on. */
  readonly scalesToZero: boolean
  /** True if the status contains the observed generation. */
  readonly hasGeneration: boolean
  readonly downWindowMs: number
}

/** State that is kept between passes of an autoscaler. */
export interface AutoscalerMemory {
  /** Earlier recommendations before limits. */
  readonly recommendations: readonly Timed[]
  readonly added: readonly Timed[]
  readonly removed: readonly Timed[]
}

export const noMemory: AutoscalerMemory = { recommendations: [], added: [], removed: [] }

/** The result of comparing the number of replicas with the bounds, before metrics are read. */
export type FirstLook =
  | { readonly kind: 'disabled' }
  | { readonly kind: 'bound'; readonly replicas: number; readonly reason: string }
  | { readonly kind: 'measure' }

/** The results of all metrics, or the reason why the Pods cannot be measured. */
export type Measured =
  | { readonly kind: 'metrics'; readonly results: readonly MetricResult[] }
  | { readonly kind: 'refused'; readonly reason: string; readonly condition: string; readonly event: WorkloadEvent }

export interface AutoscalerObserved {
  readonly autoscaler: Autoscaler
  readonly currentReplicas: number
  readonly look: FirstLook
  /** The metrics, if the first look requires them. */
  readonly measured: Measured | undefined
  readonly memory: AutoscalerMemory
  readonly rules: AutoscalerRules
}

/** The outcome of writing a scale. */
export type ScaleOutcome = { readonly kind: 'scaled' } | { readonly kind: 'refused'; readonly message: string }

export interface AutoscalerPlan {
  readonly events: readonly WorkloadEvent[]
  readonly memory: AutoscalerMemory
  /** The number to scale to; undefined if it stays. */
  readonly target?: { readonly replicas: number; readonly reason: string } | undefined
  /** Computes the state after the scale was written, or after a pass without a write. */
  readonly after: (outcome?: ScaleOutcome) => {
    readonly status: object
    readonly memory: AutoscalerMemory
    readonly event?: WorkloadEvent | undefined
  }
}

const belowMinimum = 'Current number of replicas below Spec.MinReplicas'
/** Below this level, an autoscaler with a minimum of zero reads its metrics whenever there are no replicas. */
const scaledToZeroSince = 37
/** Below this level, a pass without a result keeps the metrics of the last one in the status. */
const failedMetricsSince = 29

/** Compares the number of replicas with the bounds, before any metric is read. */
export function lookAtReplicas({ spec, status }: Autoscaler, currentReplicas: number, rules: AutoscalerRules): FirstLook {
  const minReplicas = spec.minReplicas ?? 1
  if (currentReplicas === 0) {
    if (rules.level < scaledToZeroSince) return minReplicas === 0 ? { kind: 'measure' } : { kind: 'disabled' }
    const mayLeaveZero = hasScaledToZero(status, rules) && (minReplicas !== 0 || readsWithoutPods(spec))
    return mayLeaveZero ? { kind: 'measure' } : { kind: 'disabled' }
  }
  if (currentReplicas > spec.maxReplicas)
    return { kind: 'bound', replicas: spec.maxReplicas, reason: 'Current number of replicas above Spec.MaxReplicas' }
  if (currentReplicas < minReplicas) return { kind: 'bound', replicas: minReplicas, reason: belowMinimum }
  return { kind: 'measure' }
}

function hasScaledToZero({ conditions }: AutoscalerStatus, { scalesToZero }: AutoscalerRules): boolean {
  return scalesToZero && conditions?.some(({ type, status }) => type === 'ScaledToZero' && status === 'True') === true
}

function readsWithoutPods({ metrics }: Autoscaler['spec']): boolean {
  return metrics?.some(({ type }) => type === 'Object' || type === 'External') === true
}

/** The status if the target's scale cannot be read. */
export function unscalableStatus({ status }: Autoscaler, message: string, nowMs: number): object {
  const conditions = new Conditions(status, nowMs)
  conditions.set('AbleToScale', 'False', {
    reason: 'FailedGetScale',
    message: `the HPA controller was unable to get the target's current scale: ${message}`,
  })
  return { ...status, conditions: conditions.list }
}

/**
 * Computes the number of replicas from metrics, behavior and bounds, and the resulting status.
 *
 *   2 replicas of 90m of 100m each, target 50 %   target 4: cpu resource utilization (percentage of request) above target
 *   a metric fails, another asks for fewer        no target: ScalingActive is False
 */
export function decideAutoscaler(observed: AutoscalerObserved, nowMs: number): AutoscalerPlan {
  const { autoscaler, currentReplicas, look, rules } = observed
  const conditions = new Conditions(autoscaler.status, nowMs)
  conditions.set('AbleToScale', 'True', {
    reason: 'SucceededGetScale',
    message: "the HPA controller was able to get the target's current scale",
  })
  const { memory: known, measured } = observed
  const isFirst = known.recommendations.length === 0
  const memory = isFirst ? { ...known, recommendations: [{ value: currentReplicas, atMs: nowMs }] } : known
  const pass = { observed, conditions, memory, nowMs }
  switch (look.kind) {
    case 'disabled':
      conditions.set('ScalingActive', 'False', {
        reason: 'ScalingDisabled',
        message: 'scaling is disabled since the replica count of the target is zero',
      })
      if (!rules.scalesToZero) conditions.remove('ScaledToZero')
      return { events: [], memory, after: afterScaling(pass, undefined, null) }
    case 'bound':
      return { events: [], memory, target: look, after: afterScaling(pass, look.replicas, null) }
    case 'measure':
      return decideByMetrics(pass, measured ?? { kind: 'metrics', results: [] })
  }
}

interface Pass {
  readonly observed: AutoscalerObserved
  readonly conditions: Conditions
  readonly memory: AutoscalerMemory
  readonly nowMs: number
}

function decideByMetrics(pass: Pass, measured: Measured): AutoscalerPlan {
  const { observed, conditions, memory } = pass
  if (measured.kind === 'refused') {
    const { reason, condition, event } = measured
    conditions.set('ScalingActive', 'False', { reason, message: condition })
    return { events: [event], memory, after: afterFailure(pass, event.message, null) }
  }
  const { results } = measured
  const events = results.flatMap((result): WorkloadEvent[] =>
    result.kind === 'failed' ? [{ type: 'Warning', reason: result.reason, message: result.message }] : [],
  )
  const failed = results.filter((result) => result.kind === 'failed')
  const statuses = results.map((result) => (result.kind === 'proposed' ? result.status : { type: '' }))
  const best = highest(results)
  const [first] = failed
  if (best === undefined || (first !== undefined && best.replicas < observed.currentReplicas)) {
    const { reason = '', message = '', summary = '' } = first ?? {}
    conditions.set('ScalingActive', 'False', { reason, message: `the HPA was unable to compute the replica count: ${message}` })
    const text = `invalid metrics (${failed.length} invalid out of ${results.length}), first error is: ${summary}`
    return { events, memory, after: afterFailure(pass, text, statuses) }
  }
  conditions.set('ScalingActive', 'True', {
    reason: 'ValidMetricFound',
    message: `the HPA was able to successfully calculate a replica count from ${best.name}`,
  })
  const target = limitToBehavior(pass, best)
  const remembered = remember(pass, best.replicas)
  return { events, memory: remembered, target, after: afterScaling({ ...pass, memory: remembered }, target?.replicas, statuses) }
}

type Proposed = MetricResult & { readonly kind: 'proposed' }

/** The first of the highest proposals. As upstream, a proposal of zero is replaced by any later one. */
function highest(results: readonly MetricResult[]): Proposed | undefined {
  let best: Proposed | undefined
  for (const result of results) {
    if (result.kind === 'proposed' && (best === undefined || best.replicas === 0 || result.replicas > best.replicas)) best = result
  }
  return best
}

function limitToBehavior({ observed, conditions, memory, nowMs }: Pass, best: Proposed): { replicas: number; reason: string } | undefined {
  const { autoscaler, currentReplicas, rules } = observed
  const { maxReplicas, behavior } = autoscaler.spec
  const minReplicas = autoscaler.spec.minReplicas ?? 1
  const wanted = Math.max(0, best.replicas)
  const { downWindowMs, level } = rules
  const limited = limitReplicas({ ...memory, level, wanted, currentReplicas, minReplicas, maxReplicas, behavior, downWindowMs }, nowMs)
  for (const { type, status, ...cause } of limited.conditions) conditions.set(type, status, cause)
  const leavesZero = currentReplicas === 0 && minReplicas !== 0 && hasScaledToZero(autoscaler.status, rules)
  const replicas = leavesZero ? Math.max(limited.replicas, minReplicas) : limited.replicas
  if (replicas === currentReplicas) return undefined
  if (wanted > currentReplicas) return { replicas, reason: `${best.name} above target` }
  if (wanted < currentReplicas) return { replicas, reason: 'All metrics below target' }
  return { replicas, reason: leavesZero ? belowMinimum : '' }
}

/** Adds the recommendation, and drops those outside of all windows. */
function remember({ observed, memory, nowMs }: Pass, replicas: number): AutoscalerMemory {
  const { scaleUp, scaleDown } = observed.autoscaler.spec.behavior ?? {}
  const windows = [scaleUp?.stabilizationWindowSeconds, scaleDown?.stabilizationWindowSeconds].map((seconds) => (seconds ?? 0) * 1000)
  const sinceMs = nowMs - Math.max(observed.rules.downWindowMs, ...windows)
  const recent = memory.recommendations.filter(({ atMs }) => atMs >= sinceMs)
  return { ...memory, recommendations: [...recent, { value: replicas, atMs: nowMs }] }
}

/** Adds the change, and drops those outside of all policies' periods. */
function rememberChange({ observed, memory, nowMs }: Pass, replicas: number): AutoscalerMemory {
  const { behavior } = observed.autoscaler.spec
  if (behavior == null) return memory
  const change = replicas - observed.currentReplicas
  const [side, rules] = change > 0 ? (['added', behavior.scaleUp] as const) : (['removed', behavior.scaleDown] as const)
  const longestMs = Math.max(0, ...(rules?.policies ?? []).map(({ periodSeconds }) => periodSeconds * 1000))
  const recent = memory[side].filter(({ atMs }) => atMs >= nowMs - longestMs)
  return { ...memory, [side]: [...recent, { value: Math.abs(change), atMs: nowMs }] }
}

type Statuses = readonly object[] | null

function afterFailure(pass: Pass, message: string, statuses: Statuses): AutoscalerPlan['after'] {
  const { observed, memory } = pass
  const { desiredReplicas = 0 } = observed.autoscaler.status
  const event: WorkloadEvent = { type: 'Warning', reason: 'FailedComputeMetricsReplicas', message }
  return () => ({ status: statusOf(pass, { desiredReplicas, statuses: keptStatuses(observed, statuses) }), memory, event })
}

function keptStatuses({ autoscaler, rules }: AutoscalerObserved, statuses: Statuses): Statuses {
  return rules.level < failedMetricsSince ? (autoscaler.status.currentMetrics ?? null) : statuses
}

/** `replicas` is the number to scale to; undefined if it stays. */
function afterScaling(pass: Pass, replicas: number | undefined, statuses: Statuses): AutoscalerPlan['after'] {
  const { observed, conditions, memory, nowMs } = pass
  const { autoscaler, currentReplicas, rules } = observed
  return (outcome) => {
    if (replicas === undefined || outcome === undefined)
      return { status: statusOf(pass, { desiredReplicas: currentReplicas, statuses }), memory }
    if (outcome.kind === 'refused') {
      const message = `the HPA controller was unable to update the target scale: ${outcome.message}`
      conditions.set('AbleToScale', 'False', { reason: 'FailedUpdateScale', message })
      return {
        status: statusOf(pass, { desiredReplicas: autoscaler.status.desiredReplicas ?? 0, statuses: keptStatuses(observed, statuses) }),
        memory,
      }
    }
    conditions.set('AbleToScale', 'True', {
      reason: 'SucceededRescale',
      message: `the HPA controller was able to update the target scale to ${replicas}`,
    })
    if (rules.scalesToZero && rules.level >= scaledToZeroSince) setScaledToZero(pass, replicas)
    else conditions.remove('ScaledToZero')
    const status = statusOf(pass, { desiredReplicas: replicas, statuses })
    return { status: { ...status, lastScaleTime: printTime(toInstant(nowMs)) }, memory: rememberChange(pass, replicas) }
  }
}

function setScaledToZero({ observed, conditions }: Pass, replicas: number): void {
  const { spec } = observed.autoscaler
  const isAtZero = observed.currentReplicas > 0 && replicas === 0 && spec.minReplicas === 0 && readsWithoutPods(spec)
  const [status, reason] = isAtZero ? (['True', 'ScaledToZero'] as const) : (['False', 'NotScaledToZero'] as const)
  const message = `the HPA controller ${isAtZero ? 'scaled' : 'did not scale'} the workload to zero`
  conditions.set('ScaledToZero', status, { reason, message })
}

function statusOf({ observed, conditions }: Pass, shown: { desiredReplicas: number; statuses: Statuses }): object {
  const { autoscaler, currentReplicas, rules } = observed
  const { lastScaleTime } = autoscaler.status
  const { generation } = autoscaler.metadata
  return {
    ...(rules.hasGeneration && generation !== undefined && { observedGeneration: generation }),
    ...(lastScaleTime != null && { lastScaleTime }),
    currentReplicas,
    desiredReplicas: shown.desiredReplicas,
    // The API prints an absent list as null.
    currentMetrics: shown.statuses,
    conditions: conditions.list,
  }
}

/** Conditions in the order in which they were added. */
class Conditions {
  list: readonly BuiltIn<'autoscaling/v2.HorizontalPodAutoscalerCondition'>[]
  readonly #time: string

  constructor({ conditions }: AutoscalerStatus, nowMs: number) {
    this.list = conditions ?? []
    this.#time = printTime(toInstant(nowMs))
  }

  set(type: string, status: 'True' | 'False', cause: { readonly reason: string; readonly message: string }): void {
    const known = this.list.find((condition) => condition.type === type)
    this.list = withCondition(this.list, { ...known, type, status, lastTransitionTime: this.#time, ...cause })
  }

  remove(type: string): void {
    this.list = this.list.filter((condition) => condition.type !== type)
  }
}
