import { jsonEqual } from '../json/equal.ts'
import { printTime, toInstant } from '../meta/time.ts'
import { domainLabel, type Names, subdomainLabel } from '../names.ts'
import type { Node } from '../workloads/pods.ts'

type NodeStatus = Node['status']
type NodeCondition = NonNullable<NodeStatus['conditions']>[number]

/** Conditions about exhausted resources of a node. */
export const pressureTypes = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const
export type PressureType = (typeof pressureTypes)[number]

/** The container runtime that simulated nodes report, and that no kubelet has. */
export const simulatedRuntime = 'containerd://1.6.0-simulated'

export function isSimulatedNode({ status }: Pick<Node, 'status'>): boolean {
  return status.nodeInfo?.containerRuntimeVersion === simulatedRuntime
}

/** The health of a node that its conditions show. */
export interface NodeHealth {
  readonly pressures: readonly PressureType[]
  /** Reasons why it is not ready; empty if it is. */
  readonly problems: readonly string[]
}

/** The problem of a node that shuts down. */
export const shuttingDown = 'node is shutting down'

export const healthy: NodeHealth = { pressures: [], problems: [] }

interface Verdict {
  readonly reason: string
  readonly message: string
}

/** Reasons and messages of the kubelet without pressure and with pressure (nodestatus/setters.go). */
const pressureVerdicts: Readonly<Record<PressureType, readonly [free: Verdict, pressed: Verdict]>> = {
  MemoryPressure: [
    { reason: 'KubeletHasSufficientMemory', message: 'kubelet has sufficient memory available' },
    { reason: 'KubeletHasInsufficientMemory', message: 'kubelet has insufficient memory available' },
  ],
  DiskPressure: [
    { reason: 'KubeletHasNoDiskPressure', message: 'kubelet has no disk pressure' },
    { reason: 'KubeletHasDiskPressure', message: 'kubelet has disk pressure' },
  ],
  PIDPressure: [
    { reason: 'KubeletHasSufficientPID', message: 'kubelet has sufficient PID available' },
    { reason: 'KubeletHasInsufficientPID', message: 'kubelet has insufficient PID available' },
  ],
}

/** Resources that a node needs in its capacity to be ready. */
const neededResources = ['cpu', 'memory', 'pods', 'ephemeral-storage']

export interface ReportedConditions {
  readonly conditions: NodeCondition[]
  /** Reasons of the events that report the changes. */
  readonly events: readonly string[]
}

/** The kubelet's conditions merged over those in the API. An unchanged status keeps its transition time. */
export function nodeConditions(
  { pressures, problems }: NodeHealth,
  { conditions: before, capacity }: Pick<NodeStatus, 'conditions' | 'capacity'>,
  nowMs: number,
): ReportedConditions {
  const time = printTime(toInstant(nowMs))
  const events: string[] = []
  const report = (type: string, status: 'True' | 'False', verdict: Verdict, event?: string): NodeCondition => {
    const last = before?.find((condition) => condition.type === type)
    const hasChanged = last?.status !== status
    if (hasChanged && (last !== undefined || type !== 'Ready')) events.push(event ?? verdict.reason.replace(/^Kubelet/, 'Node'))
    const lastTransitionTime = hasChanged ? time : (last.lastTransitionTime ?? time)
    return { type, status, lastHeartbeatTime: time, lastTransitionTime, ...verdict }
  }
  const pressed = pressureTypes.map((type) => {
    const isPressed = pressures.includes(type)
    return report(type, isPressed ? 'True' : 'False', pressureVerdicts[type][isPressed ? 1 : 0])
  })
  const missing = neededResources.filter((resource) => capacity?.[resource] === undefined)
  const reasons = [...problems, ...(missing.length === 0 ? [] : [`missing node capacity for resources: ${missing.join(', ')}`])]
  const isReady = reasons.length === 0
  const verdict = isReady
    ? { reason: 'KubeletReady', message: 'kubelet is posting ready status' }
    : { reason: 'KubeletNotReady', message: reasons.length === 1 ? (reasons[0] ?? '') : `[${reasons.join(', ')}]` }
  const ready = report('Ready', isReady ? 'True' : 'False', verdict, isReady ? 'NodeReady' : 'NodeNotReady')
  return { conditions: [...pressed, ready], events }
}

/** True if two statuses differ in more than heartbeats and the order of conditions: a kubelet writes such a change at once. */
export function hasStatusChanged(before: NodeStatus | undefined, after: NodeStatus | undefined): boolean {
  if (before === undefined || after === undefined) return before !== after
  return !jsonEqual(comparable(before), comparable(after))
}

function comparable({ conditions = [], ...rest }: NodeStatus): object {
  const byType = conditions.map(({ lastHeartbeatTime: _, ...condition }) => [condition.type, condition])
  return { ...rest, conditions: Object.fromEntries(byType) }
}

/** Labels that a kubelet maintains; others belong to clients. */
function defaultLabels(names: Names): readonly string[] {
  const topology = (key: string) => [subdomainLabel(names, 'topology', key), `failure-domain.beta.${domainLabel(names, key)}`]
  const machine = [subdomainLabel(names, 'node', 'instance-type'), `beta.${domainLabel(names, 'instance-type')}`]
  return [...['hostname', 'os', 'arch'].map((key) => domainLabel(names, key)), ...topology('zone'), ...topology('region'), ...machine]
}

/** The annotation of a node whose volumes the controllers attach. */
export function attachAnnotation(names: Names): string {
  return subdomainLabel(names, 'volumes', 'controller-managed-attach-detach')
}

/** The parts of a Node that registration sets. */
type Registered = Pick<Node, 'metadata'> & { readonly spec?: Pick<Node['spec'], 'podCIDR' | 'podCIDRs'> }

/** The change of an existing Node when its kubelet starts; undefined if there is none. */
export function registrationPatch(existing: Registered, wanted: Registered, names: Names): object | undefined {
  const has = (holder: Pick<Node, 'metadata'>, key: string) => holder.metadata.annotations?.[key]
  const labels = defaultLabels(names).flatMap((key) => {
    const value = wanted.metadata.labels?.[key]
    return value === undefined || existing.metadata.labels?.[key] === value ? [] : [[key, value] as const]
  })
  const key = attachAnnotation(names)
  const annotations = has(existing, key) === has(wanted, key) ? undefined : { [key]: has(wanted, key) ?? null }
  const { podCIDR, podCIDRs } = wanted.spec ?? {}
  const spec = podCIDR !== undefined && existing.spec?.podCIDR === undefined ? { podCIDR, podCIDRs } : undefined
  if (labels.length === 0 && annotations === undefined && spec === undefined) return undefined
  const metadata = { ...(labels.length > 0 && { labels: Object.fromEntries(labels) }), ...(annotations && { annotations }) }
  return { metadata, ...(spec && { spec }) }
}
