import { domainLabel, type Names, subdomainLabel } from '../names.ts'
import type { BuiltIn } from '../schema/built-in.ts'
import type { Node } from '../workloads/pods.ts'

export type Taint = BuiltIn<'core/v1.Taint'>

/** Taints to add to and to remove from a node. */
export type TaintChange = ReturnType<typeof noScheduleChange>

/** The taints by condition: its type and status, and the taint's name. */
const ofConditions = [
  ['Ready', 'False', 'not-ready'],
  ['Ready', 'Unknown', 'unreachable'],
  ['MemoryPressure', 'True', 'memory-pressure'],
  ['DiskPressure', 'True', 'disk-pressure'],
  ['NetworkUnavailable', 'True', 'network-unavailable'],
  ['PIDPressure', 'True', 'pid-pressure'],
] as const

const unschedulable = 'unschedulable'

/**
 * The changes of NoSchedule taints that a node's conditions and spec.unschedulable require (NODE-LC-05). Taints with other
 * keys or effects are ignored.
 *
 *   MemoryPressure is True, taint not-ready:NoSchedule     add memory-pressure, remove not-ready
 */
export function noScheduleChange(names: Names, { spec, status: { conditions = [] } }: Node) {
  const toTaint = (name: string): Taint => ({ key: subdomainLabel(names, 'node', name), effect: 'NoSchedule' })
  const wanted = conditions.flatMap((condition) =>
    ofConditions.filter(([type, status]) => condition.type === type && condition.status === status).map(([, , name]) => toTaint(name)),
  )
  if (spec.unschedulable === true) wanted.push(toTaint(unschedulable))
  const known = new Set([...ofConditions.map(([, , name]) => name), unschedulable].map((name) => toTaint(name).key))
  const present = (spec.taints ?? []).filter(({ key, effect }) => effect === 'NoSchedule' && known.has(key))
  return {
    added: wanted.filter((taint) => !hasTaint(present, taint)),
    removed: present.filter((taint) => !hasTaint(wanted, taint)),
  }
}

/** True if the list contains a taint with the same key and effect. */
export function hasTaint(taints: readonly Taint[] | null | undefined, { key, effect }: Taint): boolean {
  return taints?.some((taint) => taint.key === key && taint.effect === effect) === true
}

/** The taints after a change; new taints are last and have the time. Undefined without a change. */
export function changedTaints(taints: readonly Taint[], { added, removed }: TaintChange, timeAdded: string): readonly Taint[] | undefined {
  const kept = taints.filter((taint) => !hasTaint(removed, taint))
  const missing = added.filter((taint) => !hasTaint(taints, taint)).map((taint) => ({ ...taint, timeAdded }))
  return kept.length === taints.length && missing.length === 0 ? undefined : [...kept, ...missing]
}

/** The NoExecute taints for the condition Ready. */
export function noExecuteOf(names: Names): { readonly notReady: Taint; readonly unreachable: Taint } {
  const toTaint = (name: string): Taint => ({ key: subdomainLabel(names, 'node', name), effect: 'NoExecute' })
  return { notReady: toTaint('not-ready'), unreachable: toTaint('unreachable') }
}

/** Labels to set so that the old labels for os and arch equal the new ones (NODE-LC-13). Undefined if they do. */
export function labelChange(names: Names, { labels = {} }: Node['metadata']): Readonly<Record<string, string>> | undefined {
  const changed: Record<string, string> = {}
  for (const name of ['os', 'arch']) {
    const value = labels[domainLabel(names, name)]
    const old = subdomainLabel(names, 'beta', name)
    if (value !== undefined && labels[old] !== value) changed[old] = value
  }
  return Object.keys(changed).length === 0 ? undefined : changed
}
