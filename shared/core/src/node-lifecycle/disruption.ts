import { conditionPatch, type Pod } from '../workloads/index.ts'

/** A controller's reason for terminating a Pod early. */
export interface Disruption {
  readonly reason: string
  readonly message: string
}

export interface DisruptionOptions {
  readonly nowMs: number
  /** True if conditions record the generation that they refer to. */
  readonly tracksGenerations: boolean
}

/** The status patch (strategic merge) that adds DisruptionTarget to a Pod. Undefined if the Pod has the condition. */
export function disruptedConditions(pod: Pod, disruption: Disruption, { nowMs, tracksGenerations }: DisruptionOptions): object | undefined {
  const generation = tracksGenerations ? pod.metadata.generation : undefined
  return conditionPatch(pod, { type: 'DisruptionTarget', status: 'True', ...disruption }, { nowMs, generation })
}
