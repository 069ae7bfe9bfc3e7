import { printTime, toInstant } from '../meta/time.ts'
import type { BuiltIn } from '../schema/built-in.ts'
import type { Node } from '../workloads/pods.ts'

export type Lease = BuiltIn<'coordination/v1.Lease'>
type Condition = NonNullable<Node['status']['conditions']>[number]
export type ReadyStatus = Condition['status']

/** Conditions that become Unknown when the kubelet is silent. NetworkUnavailable has another owner. */
const kubeletConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const

/** The last signs of life of a node. Times are by the controller's clock, in milliseconds. */
export interface NodeHealth {
  readonly probeMs: number
  /** The condition Ready; undefined if it was never reported. */
  readonly ready: Condition | undefined
  /** The last lease renewal that was counted. */
  readonly renewTime: string | null | undefined
}

export interface HealthOptions {
  readonly nowMs: number
  /** Maximum silence of a node. */
  readonly graceMs: number
  /** Maximum silence between the creation of a node and its first report. */
  readonly startupGraceMs: number
}

/** The result of checking a node. */
export interface HealthLook {
  readonly health: NodeHealth
  /** The node's status of Ready; Unknown without the condition. */
  readonly observed: ReadyStatus
  /** The status of Ready after the check; undefined if the node has not reported and may still be starting. */
  readonly current: ReadyStatus | undefined
  /** Conditions to write because the node was silent for too long, if any. */
  readonly conditions: readonly Condition[] | undefined
  /** The time at which the silence becomes too long; undefined if it already is and the conditions show it. */
  readonly expiresMs: number | undefined
}

/**
 * Checks a node for signs of life (NODE-LC-01 to NODE-LC-03): a new heartbeat of Ready, or a renewed lease, counts from the time when it is
 * observed. After the grace period, conditions become Unknown.
 *
 *   grace 50 s, heartbeat seen at 0 s, look at 50 s    nothing
 *   the same, look at 55 s                             Ready, MemoryPressure, DiskPressure, PIDPressure are Unknown
 *   the same, lease renewed, look at 55 s              nothing, and the time begins anew
 */
export function lookAtHealth(before: NodeHealth | undefined, node: Node, lease: Lease | undefined, options: HealthOptions): HealthLook {
  const { nowMs, graceMs, startupGraceMs } = options
  const ready = node.status.conditions?.find((condition) => condition.type === 'Ready')
  let health = reported(before, node, ready, nowMs)
  const renewTime = lease?.spec.renewTime
  if (lease !== undefined && (before?.renewTime === undefined || isLater(renewTime, before.renewTime)))
    health = { ...health, renewTime: renewTime ?? null, probeMs: nowMs }
  const observed = ready?.status ?? 'Unknown'
  const expiresMs = health.probeMs + (ready === undefined ? startupGraceMs : graceMs)
  if (nowMs <= expiresMs) return { health, observed, current: ready?.status, conditions: undefined, expiresMs }
  const isKnown = ready?.status === 'Unknown'
  const conditions = isKnown ? undefined : silentConditions(node, nowMs)
  return { health, observed, current: 'Unknown', conditions, expiresMs: undefined }
}

/** The health after an event of a lease that was already counted. A renewal counts from now on. */
export function renewedHealth(health: NodeHealth, { spec: { renewTime } }: Lease, probeMs: number): NodeHealth {
  return isLater(renewTime, health.renewTime ?? null) ? { ...health, renewTime: renewTime ?? null, probeMs } : health
}

/** The health after conditions were written. */
export function silentHealth({ probeMs }: NodeHealth, conditions: readonly Condition[], lease: Lease | undefined): NodeHealth {
  const renewTime = lease === undefined ? undefined : (lease.spec.renewTime ?? null)
  return { probeMs, ready: conditions.find(({ type }) => type === 'Ready'), renewTime }
}

/** As upstream, a new report resets the lease, so that the lease counts again at the next check. */
function reported(before: NodeHealth | undefined, node: Node, ready: Condition | undefined, nowMs: number): NodeHealth {
  if (ready === undefined) {
    const createdMs = Date.parse(node.metadata.creationTimestamp ?? '')
    return before === undefined ? { probeMs: createdMs, ready, renewTime: undefined } : { ...before, ready }
  }
  const isNew = before?.ready === undefined || before.ready.lastHeartbeatTime !== ready.lastHeartbeatTime
  return before === undefined || isNew ? { probeMs: nowMs, ready, renewTime: undefined } : { ...before, ready }
}

function silentConditions({ metadata: { creationTimestamp }, status }: Node, nowMs: number): readonly Condition[] {
  const lastTransitionTime = printTime(toInstant(nowMs))
  const present = (status.conditions ?? []).map((condition): Condition => {
    if (!kubeletConditions.some((type) => type === condition.type) || condition.status === 'Unknown') return condition
    const message = 'Kubelet stopped posting node status.'
    return { ...condition, status: 'Unknown', reason: 'NodeStatusUnknown', message, lastTransitionTime }
  })
  const missing = kubeletConditions
    .filter((type) => !present.some((condition) => condition.type === type))
    .map((type): Condition => {
      const message = 'Kubelet never posted node status.'
      const lastHeartbeatTime = creationTimestamp ?? null
      return { type, status: 'Unknown', reason: 'NodeStatusNeverUpdated', message, lastHeartbeatTime, lastTransitionTime }
    })
  return [...present, ...missing]
}

/** Absent times are not compared. */
function isLater(time: string | null | undefined, before: string | null): boolean {
  return time != null && before !== null && Date.parse(time) > Date.parse(before)
}
