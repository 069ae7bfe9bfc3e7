import { parseQuantity, roundUpQuantity } from '../../meta/quantity.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import type { Tolerance } from './replicas.ts'

type Rules = BuiltIn<'autoscaling/v2.HPAScalingRules'>
type Behavior = BuiltIn<'autoscaling/v2.HorizontalPodAutoscalerBehavior'>

/** Without a behavior, the number at most doubles, or increases to four. */
const upFactor = 2
const upMinimum = 4
/** Below this level, changes in the other direction do not count for the rate of policies. */
const bothWaysSince = 26

/** A number with its time in milliseconds since 1970. */
export interface Timed {
  readonly value: number
  readonly atMs: number
}

export interface Wanted {
  readonly currentReplicas: number
  /** The number of replicas that the metrics call for. */
  readonly wanted: number
  readonly minReplicas: number
  readonly maxReplicas: number
  /** The behavior with the defaults of the API; undefined for the older rules. */
  readonly behavior?: Behavior | null | undefined
  /** The stabilization window for scaling down, if the autoscaler has none. */
  readonly downWindowMs: number
  /** Earlier recommendations. */
  readonly recommendations: readonly Timed[]
  /** Earlier additions and removals of replicas. */
  readonly added: readonly Timed[]
  readonly removed: readonly Timed[]
  readonly level: number
}

interface LimitCondition {
  readonly type: 'AbleToScale' | 'ScalingLimited'
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

/** The number to scale to, with the limit that determined it. */
export interface Limited {
  readonly replicas: number
  readonly conditions: readonly LimitCondition[]
}

const upLimit = { reason: 'ScaleUpLimit', message: 'the desired replica count is increasing faster than the maximum scale rate' }
const downLimit = { reason: 'ScaleDownLimit', message: 'the desired replica count is decreasing faster than the maximum scale rate' }
const tooMany = { reason: 'TooManyReplicas', message: 'the desired replica count is more than the maximum replica count' }
const tooFew = { reason: 'TooFewReplicas', message: 'the desired replica count is less than the minimum replica count' }
const withinRange = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' }
const upStabilized = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
}
const downStabilized = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
}
const ready = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' }

/**
 * Limits the recommended number: first by the recommendations in the windows, then by the rates of the policies, then by the bounds.
 *
 *   3 replicas, 20 wanted, no behavior             6: ScaleUpLimit
 *   the same with a policy of 2 Pods a minute      5
 */
export function limitReplicas(wanted: Wanted, nowMs: number): Limited {
  const { behavior, currentReplicas } = wanted
  const stable = behavior == null ? stableByDefault(wanted, nowMs) : stableByWindows(wanted, behavior, nowMs)
  const turn = behavior == null ? downStabilized : wanted.wanted >= currentReplicas ? upStabilized : downStabilized
  const limit = behavior == null ? limitByDefault(wanted, stable) : limitByPolicies({ ...wanted, wanted: stable }, behavior, nowMs)
  return {
    replicas: limit.replicas,
    conditions: [
      { type: 'AbleToScale', status: 'True', ...(stable === wanted.wanted ? ready : turn) },
      { type: 'ScalingLimited', status: limit.replicas === stable ? 'False' : 'True', ...limit.cause },
    ],
  }
}

/** The highest recommendation in the window. */
function stableByDefault({ wanted, recommendations, downWindowMs }: Wanted, nowMs: number): number {
  const recent = recommendations.flatMap(({ value, atMs }) => (atMs >= nowMs - downWindowMs ? [value] : []))
  return Math.max(wanted, ...recent)
}

function stableByWindows(observed: Wanted, { scaleUp, scaleDown }: Behavior, nowMs: number): number {
  const { wanted, currentReplicas, recommendations, downWindowMs } = observed
  const within = (windowMs: number) => recommendations.flatMap(({ value, atMs }) => (atMs > nowMs - windowMs ? [value] : []))
  const low = Math.min(wanted, ...within((scaleUp?.stabilizationWindowSeconds ?? 0) * 1000))
  const downSeconds = scaleDown?.stabilizationWindowSeconds
  const high = Math.max(wanted, ...within(downSeconds == null ? downWindowMs : downSeconds * 1000))
  return Math.min(Math.max(currentReplicas, low), high)
}

function limitByDefault({ currentReplicas, minReplicas, maxReplicas }: Wanted, wanted: number) {
  const rate = Math.max(upFactor * currentReplicas, upMinimum)
  const [most, cause] = maxReplicas > rate ? [rate, upLimit] : [maxReplicas, tooMany]
  if (wanted < minReplicas) return { replicas: minReplicas, cause: tooFew }
  return wanted > most ? { replicas: most, cause } : { replicas: wanted, cause: withinRange }
}

function limitByPolicies(limits: Wanted, { scaleUp, scaleDown }: Behavior, nowMs: number) {
  const { wanted, currentReplicas, minReplicas, maxReplicas } = limits
  if (wanted > currentReplicas) {
    const rate = Math.max(currentReplicas, rateOf(limits, scaleUp, 1, nowMs))
    const [most, cause] = maxReplicas > rate ? [rate, upLimit] : [maxReplicas, tooMany]
    if (wanted > most) return { replicas: most, cause }
  } else if (wanted < currentReplicas) {
    const rate = Math.min(currentReplicas, rateOf(limits, scaleDown, -1, nowMs))
    const [least, cause] = minReplicas < rate ? [rate, downLimit] : [minReplicas, tooFew]
    if (wanted < least) return { replicas: least, cause }
  }
  return { replicas: wanted, cause: withinRange }
}

/** The number that policies allow now. `Min` selects the smallest change, otherwise the largest applies. */
function rateOf({ currentReplicas, added, removed, level }: Wanted, rules: Rules | null | undefined, sign: 1 | -1, nowMs: number): number {
  if (rules?.selectPolicy === 'Disabled') return currentReplicas
  const proposals = (rules?.policies ?? []).map(({ type, value, periodSeconds }) => {
    const since = (changes: readonly Timed[], isOpposite: boolean) =>
      isOpposite && level < bothWaysSince
        ? 0
        : changes.reduce((sum, change) => (change.atMs > nowMs - periodSeconds * 1000 ? sum + change.value : sum), 0)
    const atStart = currentReplicas - since(added, sign < 0) + since(removed, sign > 0)
    if (type === 'Pods') return atStart + sign * value
    const percent = atStart * (1 + (sign * value) / 100)
    return sign > 0 ? Math.ceil(percent) : Math.trunc(percent)
  })
  const isLargest = rules?.selectPolicy !== 'Min'
  return isLargest === sign > 0 ? Math.max(...proposals) : Math.min(...proposals)
}

/** The tolerances of a behavior, or the default ones. */
export function toleranceOf(behavior: Behavior | null | undefined, usual: number): Tolerance {
  const of = (rules: Rules | null | undefined) => {
    const quantity = parseQuantity(rules?.tolerance ?? '')
    return quantity === undefined ? usual : Number(roundUpQuantity(quantity, -9)) / 1e9
  }
  return { down: of(behavior?.scaleDown), up: of(behavior?.scaleUp) }
}
