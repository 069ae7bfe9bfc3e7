import { tolerates } from '../placement/taints.ts'
import type { BuiltIn } from '../schema/built-in.ts'
import type { Pod } from '../workloads/pods.ts'
import { type DisruptionOptions, disruptedConditions } from './disruption.ts'
import type { Taint } from './taints.ts'

type Toleration = BuiltIn<'core/v1.Toleration'>

/** The time for which a Pod may stay on a node with taints NoExecute, in milliseconds. */
export type Stay = { readonly kind: 'forever' } | { readonly kind: 'none' } | { readonly kind: 'for'; readonly ms: number }

/**
 * The stay of a Pod beside taints NoExecute (NODE-LC-08): none if a taint is not tolerated, else the shortest time of the first tolerations
 * that match. A time below zero counts as zero.
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

/** The stay that the tolerations in use give. */
export function shortestStay(used: readonly Toleration[]): Stay {
  if (used.length === 0) return { kind: 'none' }
  const seconds = used.flatMap(({ tolerationSeconds }) => (tolerationSeconds == null ? [] : [Math.max(0, Number(tolerationSeconds))]))
  return seconds.length === 0 ? { kind: 'forever' } : { kind: 'for', ms: Math.min(...seconds) * 1000 }
}

/** The eviction of a Pod after another look at it. */
export interface EvictionPlan {
  /** Undefined: none is to come. */
  readonly dueMs: number | undefined
  /** The one that was to come is called off; another one may follow at once. */
  readonly isCancelled: boolean
}

/** A time that is set stays, whatever becomes of tolerations and taints, unless the stay becomes endless or ends now. */
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

/** The status of a Pod that is about to be evicted, as a strategic merge patch. Undefined: nothing changes. */
export function evictedStatus(pod: Pod, options: DisruptionOptions): object | undefined {
  const reason = { reason: 'DeletionByTaintManager', message: 'Taint manager: deleting due to NoExecute taint' }
  const status = disruptedConditions(pod, reason, options)
  return status && { metadata: { uid: pod.metadata.uid }, status }
}
