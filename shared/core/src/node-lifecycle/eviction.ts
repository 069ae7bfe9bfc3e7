import { tolerates } from '../placement/taints.ts'
import type { BuiltIn } from '../schema/built-in.ts'
import type { Pod } from '../workloads/pods.ts'
import { type DisruptionOptions, disruptedConditions } from './disruption.ts'
import type { Taint } from './taints.ts'

type Toleration = BuiltIn<'core/v1.Toleration'>

/** The time that a Pod may stay on a node with NoExecute taints, in milliseconds. */
export type Stay = { readonly kind: 'forever' } | { readonly kind: 'none' } | { readonly kind: 'for'; readonly ms: number }

/**
 * The time that a Pod may stay on a node with NoExecute taints (NODE-LC-08): none if a taint is not tolerated, else the shortest time of the first
 * matching tolerations. A negative time counts as zero.
 *
 *   no taints                                        forever
 *   taint a, tolerations [a for 100 s]               for 100 s
 *   taints a, b, tolerations [a for 100 s, b]        for 100 s
 *   taints a, b, tolerations [a]                     none
 */
export function stayBeside(taints: readonly Taint[], tolerations: readonly Toleration[], hasComparisons: boolean): Stay {
  if (taints.length === 0) return { kind: 'forever' }
  const used: Toleration[] = []
  for (const taint of taints) {
    const toleration = tolerations.find((one) => tolerates(one, taint, hasComparisons))
    if (toleration === undefined) return { kind: 'none' }
    used.push(toleration)
  }
  return shortestStay(used)
}

/** The time that the matching tolerations allow. */
export function shortestStay(used: readonly Toleration[]): Stay {
  if (used.length === 0) return { kind: 'none' }
  const seconds = used.flatMap(({ tolerationSeconds }) => (tolerationSeconds == null ? [] : [Math.max(0, Number(tolerationSeconds))]))
  return seconds.length === 0 ? { kind: 'forever' } : { kind: 'for', ms: Math.min(...seconds) * 1000 }
}

/** The plan for evicting a Pod, after it was checked again. */
export interface EvictionPlan {
  /** The time of the eviction; undefined for none. */
  readonly dueMs: number | undefined
  /** True if the earlier plan is cancelled; a new one may follow at once. */
  readonly isCancelled: boolean
}

/** A planned time stays when tolerations and taints change, unless the Pod may now stay for ever or must leave at once. */
export function planEviction(stay: Stay, dueMs: number | undefined, nowMs: number): EvictionPlan {
  switch (stay.kind) {
    case 'forever':
      return { dueMs: undefined, isCancelled: dueMs !== undefined }
    case 'none':
      return { dueMs: nowMs, isCancelled: dueMs !== undefined && dueMs > nowMs }
    case 'for':
      return { dueMs: dueMs ?? nowMs + stay.ms, isCancelled: false }
  }
}

export function noExecuteTaints(taints: readonly Taint[] | null | undefined): readonly Taint[] {
  return taints?.filter(({ effect }) => effect === 'NoExecute') ?? []
}

/** The status patch (strategic merge) of a Pod before its eviction. Undefined without a change. */
export function evictedStatus(pod: Pod, options: DisruptionOptions): object | undefined {
  const reason = { reason: 'DeletionByTaintManager', message: 'Taint manager: deleting due to NoExecute taint' }
  const status = disruptedConditions(pod, reason, options)
  return status && { metadata: { uid: pod.metadata.uid }, status }
}
