import { printTime, toInstant } from '../meta/time.ts'
import type { Pod } from '../workloads/pods.ts'

type Condition = NonNullable<Pod['status']['conditions']>[number]

/** Why a controller ends a Pod before its time. */
export interface Disruption {
  readonly reason: string
  readonly message: string
}

export interface DisruptionOptions {
  readonly nowMs: number
  /** True if conditions name the generation that they are about. */
  readonly tracksGenerations: boolean
}

/** The conditions of a strategic merge patch by which a Pod gets DisruptionTarget, as the last one if it is new. Undefined: the Pod has it. */
export function disruptedConditions(pod: Pod, disruption: Disruption, options: DisruptionOptions): object | undefined {
  const condition = disruptionCondition(pod, disruption, options)
  const types = (pod.status.conditions ?? []).map(({ type }) => type)
  if (condition === undefined) return undefined
  const order = types.includes(condition.type) ? types : [...types, condition.type]
  return { conditions: [condition], '$setElementOrder/conditions': order.map((type) => ({ type })) }
}

function disruptionCondition(
  { metadata: { generation }, status: { conditions = [] } }: Pod,
  { reason, message }: Disruption,
  { nowMs, tracksGenerations }: DisruptionOptions,
): (Partial<Condition> & Pick<Condition, 'type'>) | undefined {
  const type = 'DisruptionTarget'
  const before = conditions.find((condition) => condition.type === type)
  const isTrue = before?.status === 'True'
  const observed = tracksGenerations ? generation : undefined
  const isSame = before?.reason === reason && before.message === message && before.observedGeneration === observed
  if (isTrue && isSame) return undefined
  const lastTransitionTime = isTrue ? before.lastTransitionTime : printTime(toInstant(nowMs))
  return { type, status: 'True', lastTransitionTime, reason, message, ...(observed !== undefined && { observedGeneration: observed }) }
}
