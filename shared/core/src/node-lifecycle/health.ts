import { printTime, toInstant } from '../meta/time.ts'
import type { BuiltIn } from '../schema/built-in.ts'
import type { Node } from '../workloads/pods.ts'

export type Lease = BuiltIn<'coordination/v1.Lease'>
type Condition = NonNullable<Node['status']['conditions']>[number]
export type ReadyStatus = Condition['status']

/** Conditions that a silent kubelet makes Unknown. NetworkUnavailable is another's. */
const kubeletConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const

/** Signs of life of a node, as the controller has seen them. Times are by its own clock, in milliseconds. */
export interface NodeHealth {
  readonly probeMs: number
  /** The condition Ready. Undefined: it was never reported. */
  readonly ready: Condition | undefined
  /** The last renewal that has counted. */
  readonly renewTime: string | null | undefined
}

export interface HealthOptions {
  readonly nowMs: number
  /** Longest silence of a node. */
  readonly graceMs: number
  /** The same before its first report, from its creation on. */
  readonly startupGraceMs: number
}

/** A look at a node. */
export interface HealthLook {
  readonly health: NodeHealth
  /** The status of Ready that the node has. A node without the condition counts as Unknown. */
  readonly observed: ReadyStatus
  /** The status of Ready after the look. Undefined: the node has not reported, and may still be starting. */
  readonly current: ReadyStatus | undefined
  /** Conditions to write, as the node was silent for too long. Undefined: none. */
  readonly conditions: readonly Condition[] | undefined
  /** The time at which the node has been silent for too long. Undefined: it has, and its conditions say so. */
  readonly expiresMs: number | undefined
}

/**
 * Looks for signs of life (NODE-LC-01 to NODE-LC-03): a new heartbeat of Ready, or a renewed lease, counts from the time at which it is
 * seen. After the grace period conditions become Unknown.
 *
 *   grace 50 s, heartbeat seen at 0 s, look at 50 s    nothing
 *   the same, look at 55 s                             Ready, MemoryPressure, DiskPressure, PIDPressure are Unknown
 *   the same, lease renewed, look at 55 s              nothing, and the time begins anew
 */
export function lookAtHealth(before: NodeHealth | undefined, node: Node, lease: Lease | undefined, options: HealthOptions): HealthLook {
  const { nowMs, graceMs, startupGraceMs } = options
  const ready = conditionOf(node, 'Ready')
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

/** The health after an event of a lease that has counted before. A renewal counts from this time on. */
export function renewedHealth(health: NodeHealth, { spec: { renewTime } }: Lease, probeMs: number): NodeHealth {
  return isLater(renewTime, health.renewTime ?? null) ? { ...health, renewTime: renewTime ?? null, probeMs } : health
}

/** The health after conditions have been written. */
export function silentHealth({ probeMs }: NodeHealth, conditions: readonly Condition[], lease: Lease | undefined): NodeHealth {
  const renewTime = lease === undefined ? undefined : (lease.spec.renewTime ?? null)
  return { probeMs, ready: conditions.find(({ type }) => type === 'Ready'), renewTime }
}

/** A new report forgets the lease, so that it counts once more at the next look: as upstream. */
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

function conditionOf({ status }: Node, type: string): Condition | undefined {
  return status.conditions?.find((condition) => condition.type === type)
}

/** Times without a value are not compared. */
function isLater(time: string | null | undefined, before: string | null): boolean {
  return time != null && before !== null && Date.parse(time) > Date.parse(before)
}
