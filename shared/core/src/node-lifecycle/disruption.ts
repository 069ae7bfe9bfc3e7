import { conditionPatch } from '../workloads/pod-condition.ts'
import type { Pod } from '../workloads/pods.ts'

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

/** The part of a strategic merge patch of the status by which a Pod gets DisruptionTarget. Undefined: the Pod has it. */
export function disruptedConditions(pod: Pod, disruption: Disruption, { nowMs, tracksGenerations }: DisruptionOptions): object | undefined {
  const generation = tracksGenerations ? pod.metadata.generation : undefined
  return conditionPatch(pod, { type: 'DisruptionTarget', status: 'True', ...disruption }, { nowMs, generation })
}
