import type { Pod } from '../pods.ts'
import type { DaemonSet } from './names.ts'
import { type DaemonSetObserved, isAvailable, type NodePods, pairOf } from './node-pods.ts'

/** Nodes that need a Pod, and Pods to delete. */
export interface PodWork {
  readonly createdOn: readonly string[]
  readonly deleted: readonly Pod[]
}

/** The maximum numbers of unavailable and of surge nodes, both rounded up (WL-DS-16). */
function updateBounds({ spec }: DaemonSet, desired: number): { readonly surge: number; readonly unavailable: number } {
  const { type, rollingUpdate } = spec.updateStrategy ?? {}
  const scaled = (value: number | string | null | undefined) =>
    type !== 'RollingUpdate' || value == null
      ? 0
      : typeof value === 'number'
        ? value
        : Math.ceil((Number.parseInt(value, 10) * desired) / 100)
  const surge = scaled(rollingUpdate?.maxSurge)
  const unavailable = scaled(rollingUpdate?.maxUnavailable)
  return { surge, unavailable: desired > 0 && surge === 0 && unavailable === 0 ? 1 : unavailable }
}

/** True if a node may have two Pods during an update. */
export function allowsSurge(set: DaemonSet): boolean {
  return updateBounds(set, 1).surge > 0
}

/**
 * The next step of a rolling update (WL-DS-17, WL-DS-18).
 *
 *   maxUnavailable 1, nodes: old and available (3)                        delete one old Pod
 *   maxUnavailable 1, nodes: old (2), one without a Pod                   wait
 *   maxSurge 1, nodes: old and available (3)                              create one new Pod beside an old one
 *   maxSurge 1, nodes: old (2), one with an old and a new available Pod   delete that old Pod, create the next new one
 */
export function updateWork(observed: DaemonSetObserved, nodes: readonly NodePods[], nowMs: number): PodWork {
  const desired = nodes.filter(({ shouldRun }) => shouldRun).length
  const { surge, unavailable } = updateBounds(observed.set, desired)
  const counted = nodes.filter(({ shouldRun, pods }) => shouldRun || pods.length > 0)
  return surge === 0 ? replace(observed, counted, { unavailable, nowMs }) : surgeBeside(observed, counted, { surge, desired, nowMs })
}

interface ReplaceOptions {
  readonly unavailable: number
  readonly nowMs: number
}

/** Deletes unavailable old Pods at once, and as many available ones as the budget allows. */
function replace(observed: DaemonSetObserved, nodes: readonly NodePods[], { unavailable, nowMs }: ReplaceOptions): PodWork {
  const broken: Pod[] = []
  const candidates: Pod[] = []
  let unavailableCount = 0
  for (const { pods } of nodes) {
    const { fresh, old } = pairOf(pods, observed) ?? {}
    const only = fresh === undefined ? old : old === undefined ? fresh : undefined
    if (only === undefined || !isAvailable(only, observed.set, nowMs)) unavailableCount++
    if (only !== undefined && only === old) (isAvailable(only, observed.set, nowMs) ? candidates : broken).push(only)
  }
  return { createdOn: [], deleted: [...broken, ...candidates.slice(0, Math.max(0, unavailable - unavailableCount))] }
}

interface SurgeOptions {
  readonly surge: number
  readonly desired: number
  readonly nowMs: number
}

/** Creates a new Pod at once on nodes whose old Pod is unavailable, and on as many other nodes as the surge allows. */
function surgeBeside(observed: DaemonSetObserved, nodes: readonly NodePods[], { surge, desired, nowMs }: SurgeOptions): PodWork {
  const available = (pod: Pod) => isAvailable(pod, observed.set, nowMs)
  const deleted: Pod[] = []
  const misplaced: Pod[] = []
  const broken: string[] = []
  const candidates: string[] = []
  let surgeCount = 0
  let availableCount = 0
  for (const { name, exists, pods, shouldRun } of nodes) {
    const pair = pairOf(pods, observed)
    const { fresh, old } = pair ?? {}
    const counted = old ?? fresh
    if (counted !== undefined && available(counted)) availableCount++
    if (pair === undefined) surgeCount++
    else if (old === undefined || !exists) continue
    else if (fresh !== undefined) {
      if (available(fresh)) deleted.push(old)
      else surgeCount++
    } else if (!shouldRun) (available(old) ? misplaced : deleted).push(old)
    else (available(old) ? candidates : broken).push(name)
  }
  // Pods on nodes that should have none are only deleted if all desired nodes keep an available Pod.
  deleted.push(...misplaced.slice(0, Math.max(0, availableCount - desired)))
  return { createdOn: [...broken, ...candidates.slice(0, Math.max(0, surge - surgeCount))], deleted }
}
