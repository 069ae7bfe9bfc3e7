import type { BuiltIn } from '../../schema/built-in.ts'
import { availableFromMs, isReadyPod, type Pod } from '../pods.ts'
import { afterRemoval, backoffOf, type FailureBackoff, pauseMs } from './backoff.ts'
import { type DaemonSet, isUpdated, revisionLabel } from './names.ts'
import { type DaemonSetObserved, isAvailable, type NodePods, nodePodsOf, pairOf } from './node-pods.ts'

/** Maximum number of creations and of deletions per pass. */
const burstMax = 250
/** Below this level, unavailable old Pods do not count against `maxUnavailable`. */
const brokenCountSince = 28

/** A finished Pod to be removed. */
interface EndedPod {
  readonly pod: Pod
  readonly node: string
  readonly phase: 'Failed' | 'Succeeded'
}

export type DaemonSetPlan = ReturnType<typeof decideDaemonSet>

/** Computes only the status, while earlier creations and deletions are not visible yet. It does not observe the set's generation. */
export function countDaemonPods(observed: DaemonSetObserved, nowMs: number): DaemonSetStatus {
  const { observedGeneration } = observed.set.status
  return statusOf(observed, nodePodsOf(observed), { observedGeneration, nowMs })
}

/**
 * The next step of a DaemonSet: missing Pods are created and extra Pods deleted, at most 250 of each; if there are none, the rolling
 * update continues (WL-DS-26).
 *
 *   nodes a, b; a Pod on a                           create one on b
 *   nodes a, b; Pods on a (two), b                   delete the younger one on a
 *   nodes a, b; Pods of an older template on both    with maxUnavailable 1 delete one
 */
export function decideDaemonSet(observed: DaemonSetObserved, nowMs: number) {
  const { set } = observed
  const nodes = nodePodsOf(observed)
  const upkeep = new Upkeep(observed, nowMs)
  for (const node of nodes) upkeep.keepNode(node)
  const { createdOn, deleted, ended, backoff, waits } = upkeep
  const isQuiet = createdOn.length === 0 && deleted.length === 0
  const isRolling = isQuiet && set.spec.updateStrategy?.type === 'RollingUpdate'
  const work = isRolling ? updateWork(observed, nodes, nowMs) : { createdOn, deleted }
  const { minReadySeconds = 0 } = set.spec
  const availableMs = minReadySeconds === 0 ? [] : observed.pods.flatMap((pod) => availableFromMs(pod, minReadySeconds) ?? [])
  const waitsMs = [...waits, ...availableMs.map((fromMs) => fromMs - nowMs).filter((ms) => ms > 0)]
  return {
    createdOn: work.createdOn.slice(0, burstMax),
    deleted: work.deleted.slice(0, burstMax),
    ended,
    /** The backoff for the next decision. */
    backoff,
    status: statusOf(observed, nodes, { observedGeneration: set.metadata.generation, nowMs }),
    /** Time until a Pod becomes available or a failed Pod may be removed; undefined if none is pending. */
    waitMs: waitsMs.length === 0 ? undefined : waitsMs.reduce((least, ms) => Math.min(least, ms)),
  }
}

/** Collects the work on each node that does not depend on the template. */
class Upkeep {
  readonly createdOn: string[] = []
  readonly deleted: Pod[] = []
  readonly ended: EndedPod[] = []
  /** Times in milliseconds until failed Pods may be removed. */
  readonly waits: number[] = []
  readonly #observed: DaemonSetObserved
  readonly #nowMs: number
  readonly #allowsSurge: boolean
  backoff: FailureBackoff

  constructor(observed: DaemonSetObserved, nowMs: number) {
    const { set, backoff } = observed
    this.#observed = observed
    this.#nowMs = nowMs
    this.#allowsSurge = updateBounds(set, 1).surge > 0
    this.backoff = backoffOf(backoff, set.status.observedGeneration ?? 0, nowMs)
  }

  keepNode(node: NodePods): void {
    const { name, exists, pods, shouldRun, shouldContinue } = node
    const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp == null)
    // Bound Pods of a missing node are left to the Pod garbage collector.
    if (!exists) this.deleted.push(...staying.filter(({ spec: { nodeName = '' } }) => nodeName === ''))
    else if (shouldRun && pods.length === 0) this.createdOn.push(name)
    else if (!shouldContinue) this.deleted.push(...staying)
    else this.#keepPods(node, staying)
  }

  #keepPods({ name, shouldRun }: NodePods, staying: readonly Pod[]): void {
    const running = staying.filter((pod) => !this.#removeEnded(pod, name))
    if (!this.#allowsSurge) this.deleted.push(...running.slice(1))
    else if (running.length === 0 && shouldRun) this.createdOn.push(name)
    else if (running.length > 1) this.#keepPair(running)
  }

  /** True if the Pod has finished; it is removed, now or after its backoff. */
  #removeEnded(pod: Pod, node: string): boolean {
    const { phase } = pod.status
    if (phase !== 'Failed' && (phase !== 'Succeeded' || this.#observed.level < 26)) return false
    const waitMs = phase === 'Failed' ? pauseMs(this.backoff, node, this.#nowMs) : 0
    if (waitMs > 0) {
      this.waits.push(waitMs)
      return true
    }
    if (phase === 'Failed') this.backoff = afterRemoval(this.backoff, node, this.#nowMs)
    this.ended.push({ pod, node, phase })
    this.deleted.push(pod)
    return true
  }

  /** With a surge, the oldest Pod of the template and the oldest other Pod stay, the latter until the former is available. */
  #keepPair(running: readonly Pod[]): void {
    const { set, hash } = this.#observed
    const isFresh = ({ metadata }: Pod) => metadata.labels?.[revisionLabel] === hash
    const fresh = running.find(isFresh)
    const old = running.find((pod) => !isFresh(pod))
    this.deleted.push(...running.filter((pod) => pod !== fresh && pod !== old))
    if (fresh !== undefined && old !== undefined && (!isReadyPod(old) || isAvailable(fresh, set, this.#nowMs))) this.deleted.push(old)
  }
}

/** Counts of nodes. Counts of available, unavailable and updated nodes are absent if zero. */
type DaemonSetStatus = BuiltIn<'apps/v1.DaemonSetStatus'>

interface StatusOptions {
  /** The generation that the pass observed. */
  readonly observedGeneration: number | undefined
  readonly nowMs: number
}

/** Computes the status. If a node has several Pods, the first counts: a bound one, the oldest (WL-DS-27 to WL-DS-29). */
function statusOf(
  { set, hash }: Pick<DaemonSetObserved, 'set' | 'hash'>,
  nodes: readonly NodePods[],
  { observedGeneration, nowMs }: StatusOptions,
): DaemonSetStatus {
  const desired = nodes.filter(({ shouldRun }) => shouldRun)
  const first = desired.flatMap(({ pods }) => pods.slice(0, 1))
  const numberAvailable = first.filter((pod) => isReadyPod(pod) && isAvailable(pod, set, nowMs)).length
  const numberUnavailable = desired.length - numberAvailable
  const updatedNumberScheduled = first.filter(({ metadata }) => isUpdated(metadata.labels, set, hash)).length
  const { collisionCount, conditions } = set.status
  return {
    currentNumberScheduled: first.length,
    numberMisscheduled: nodes.filter(({ exists, shouldRun, pods }) => exists && !shouldRun && pods.length > 0).length,
    desiredNumberScheduled: desired.length,
    numberReady: first.filter(isReadyPod).length,
    ...(observedGeneration && { observedGeneration }),
    ...(updatedNumberScheduled > 0 && { updatedNumberScheduled }),
    ...(numberAvailable > 0 && { numberAvailable }),
    ...(numberUnavailable > 0 && { numberUnavailable }),
    ...(collisionCount != null && { collisionCount }),
    ...(conditions && { conditions }),
  }
}

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

/**
 * The next step of a rolling update (WL-DS-17, WL-DS-18).
 *
 *   maxUnavailable 1, nodes: old and available (3)                        delete one old Pod
 *   maxUnavailable 1, nodes: old (2), one without a Pod                   wait
 *   maxSurge 1, nodes: old and available (3)                              create one new Pod beside an old one
 *   maxSurge 1, nodes: old (2), one with an old and a new available Pod   delete that old Pod, create the next new one
 */
function updateWork(observed: DaemonSetObserved, nodes: readonly NodePods[], nowMs: number): PodWork {
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
    const isWorking = only !== undefined && isAvailable(only, observed.set, nowMs)
    const isOld = only !== undefined && only === old
    if (!isWorking && !(isOld && observed.level < brokenCountSince)) unavailableCount++
    if (isOld) (isWorking ? candidates : broken).push(only)
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
