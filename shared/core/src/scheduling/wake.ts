import { jsonEqual } from '../json/equal.ts'
import { requiredNodeAffinity } from '../placement/node-selector.ts'
import { firstUntolerated, tolerates } from '../placement/taints.ts'
import { type AffinityTerm, matchesAffinity } from './affinity-terms.ts'
import { readAmounts, toWhole } from './amounts.ts'
import type { ClusterObjects } from './cluster.ts'
import { extendedClasses } from './extended-resources.ts'
import type { NodeInfo } from './node-info.ts'
import type { Labels, Node } from './objects.ts'
import type { FilterName } from './plugin.ts'
import { enforcedAffinity } from './plugins/node-affinity.ts'
import { conflicts } from './plugins/node-ports.ts'
import { fit } from './plugins/node-resources.ts'
import type { PodInfo } from './pod-info.ts'
import type { SchedulingRules } from './rules.ts'

/** A change of the cluster after which a refused Pod may fit. */
export type ClusterChange =
  /** A node was added or changed; `before` is its previous state. */
  | { readonly kind: 'node'; readonly node: NodeInfo; readonly before?: Node | undefined; readonly objects: ClusterObjects }
  /** A node was removed, so Pods may now spread evenly over the others. */
  | { readonly kind: 'nodeGone' }
  /** A Pod was removed from its node. */
  | { readonly kind: 'podGone' }
  /** A claim, volume, class or another object that Pods wait for was added or changed. */
  | { readonly kind: 'storage' }
  /** A device class was added or changed, so that its devices provide further extended resources. */
  | { readonly kind: 'deviceClass'; readonly resources: readonly string[] }
  /** A Pod was put on a node, or its labels changed; `before` is its previous state. `namespaceLabels` are those of its namespace. */
  | {
      readonly kind: 'podPlaced'
      readonly pod: PodInfo
      readonly before?: PodInfo | undefined
      readonly namespaceLabels: Labels | undefined
    }

/** Parts of a node whose changes matter. */
type NodePart = 'added' | 'unschedulable' | 'allocatable' | 'labels' | 'taints' | 'conditions'

const anything: ReadonlySet<NodePart> = new Set(['added', 'unschedulable', 'allocatable', 'labels', 'taints', 'conditions'])

/** Node changes that may resolve a refusal, by plugin (SCHED-07). */
const ofNodes: Readonly<Record<FilterName, ReadonlySet<NodePart>>> = {
  NodeUnschedulable: new Set(['added', 'unschedulable', 'taints']),
  NodeName: anything,
  TaintToleration: anything,
  NodeAffinity: anything,
  NodePorts: anything,
  NodeResourcesFit: anything,
  VolumeRestrictions: new Set(['added']),
  NodeVolumeLimits: new Set(['added']),
  VolumeBinding: new Set(['added', 'labels']),
  VolumeZone: new Set(['added', 'labels']),
  PodTopologySpread: new Set(['added', 'labels', 'taints']),
  InterPodAffinity: new Set(['added', 'labels']),
  DynamicResources: new Set(['added', 'labels', 'taints']),
}

/** Plugins whose refusal may be resolved when a Pod leaves its node. */
const ofPodsGone: ReadonlySet<FilterName> = new Set([
  'NodePorts',
  'NodeResourcesFit',
  'VolumeRestrictions',
  'NodeVolumeLimits',
  'PodTopologySpread',
  'InterPodAffinity',
])

/** Plugins whose refusal may be resolved when an object of storage, a device claim or a device class is added or changed. */
const ofStorage: ReadonlySet<FilterName> = new Set([
  'VolumeRestrictions',
  'NodeVolumeLimits',
  'VolumeBinding',
  'VolumeZone',
  'DynamicResources',
])

/**
 * True if a Pod refused by these plugins should be retried after a change; no plugins means a cluster without nodes. Since 1.32
 * each plugin checks the node in detail; before, the Pod is retried if it passes a quick check against the node with its Pods.
 */
export function wakes(pod: PodInfo, refusedBy: ReadonlySet<FilterName>, change: ClusterChange, rules: SchedulingRules): boolean {
  switch (change.kind) {
    case 'podGone':
      return refusedBy.size === 0 || [...refusedBy].some((plugin) => ofPodsGone.has(plugin))
    case 'nodeGone':
      return refusedBy.has('PodTopologySpread')
    case 'storage':
      return [...refusedBy].some((plugin) => ofStorage.has(plugin))
    case 'deviceClass':
      return (
        refusedBy.has('DynamicResources') ||
        (refusedBy.has('NodeResourcesFit') && change.resources.some((resource) => pod.requested.scalars?.has(resource) === true))
      )
    case 'podPlaced':
      return helpsPlaced(pod, refusedBy, change, rules)
    case 'node':
      return helpsNode(pod, refusedBy, change, rules)
  }
}

/**
 * True for a Pod with an affinity to the placed Pod (SCHED-09). Since 1.32 also for one that is spread together with it, and for one whose
 * anti-affinity no longer selects it.
 */
function helpsPlaced(
  { terms, namespace }: PodInfo,
  refusedBy: ReadonlySet<FilterName>,
  { pod, before, namespaceLabels }: Extract<ClusterChange, { kind: 'podPlaced' }>,
  { hasHints }: SchedulingRules,
): boolean {
  if (hasHints && refusedBy.has('PodTopologySpread') && pod.namespace === namespace) return true
  const selects = (one: PodInfo) => (term: AffinityTerm) => matchesAffinity(term, one, namespaceLabels)
  if (terms.required.some(selects(pod))) return true
  return hasHints && before !== undefined && terms.requiredAnti.some(selects(before)) && !terms.requiredAnti.some(selects(pod))
}

function helpsNode(
  pod: PodInfo,
  refusedBy: ReadonlySet<FilterName>,
  { node, before, objects }: Extract<ClusterChange, { kind: 'node' }>,
  rules: SchedulingRules,
): boolean {
  const parts = changedParts(node.node, before)
  if (parts.length === 0) return false
  if (rules.hasHints) {
    if (refusedBy.size === 0) return true
    const isConcerned = (plugin: FilterName) => parts.some((part) => ofNodes[plugin].has(part))
    const byDevices = extendedClasses(pod, objects, rules.devices)
    const states = { after: node.node, before, byDevices }
    return [...refusedBy].some((plugin) => isConcerned(plugin) && nodeChecks[plugin]?.(pod, states, rules) !== false)
  }
  const [first] = parts
  const isConcerned = refusedBy.size === 0 || [...refusedBy].some((plugin) => first !== undefined && ofNodes[plugin].has(first))
  return isConcerned && passesQuickLook(pod, node, rules)
}

/** The changed parts of a node; the first is the one that counts before 1.32. */
function changedParts(after: Node, before: Node | undefined): readonly NodePart[] {
  if (before === undefined) return ['added']
  const parts: NodePart[] = []
  if (after.spec.unschedulable !== before.spec.unschedulable) parts.push('unschedulable')
  if (!jsonEqual(after.status.allocatable, before.status.allocatable)) parts.push('allocatable')
  if (!jsonEqual(after.metadata.labels, before.metadata.labels)) parts.push('labels')
  if (!jsonEqual(after.spec.taints, before.spec.taints)) parts.push('taints')
  if (!jsonEqual(conditionsOf(after), conditionsOf(before))) parts.push('conditions')
  return parts
}

function conditionsOf({ status }: Node): unknown {
  return Object.fromEntries((status.conditions ?? []).map((condition) => [condition.type, condition.status]))
}

/** Checks resources, name, affinity, ports and NoSchedule taints. */
function passesQuickLook(pod: PodInfo, node: NodeInfo, rules: SchedulingRules): boolean {
  const { hasComparisons } = rules
  if (fit(pod, node, rules) !== undefined) return false
  if (requiredNodeAffinity(pod.pod)?.(node) === false) return false
  for (const { hostPorts } of node.pods.values()) {
    for (const port of hostPorts) if (pod.hostPorts.some((wanted) => conflicts(wanted, port))) return false
  }
  return node.taints.every((taint) => taint.effect !== 'NoSchedule' || pod.tolerations.some((one) => tolerates(one, taint, hasComparisons)))
}

/** A node after a change and before it; `before` is undefined for a new node. */
interface NodeStates {
  readonly after: Node
  readonly before: Node | undefined
  /** The extended resources of the Pod that devices may provide. */
  readonly byDevices: ReadonlyMap<string, unknown>
}

/** Checks of an added or changed node by plugin. */
const nodeChecks: Partial<Record<FilterName, (pod: PodInfo, states: NodeStates, rules: SchedulingRules) => boolean>> = {
  NodeResourcesFit(pod, states) {
    const { before } = states
    return hasRoom(pod, states) && (before === undefined || hasMore(pod, { ...states, before }))
  },
  TaintToleration({ tolerations }, { after, before }, { hasComparisons }) {
    const isRefused = ({ spec }: Node) => firstUntolerated(spec.taints ?? [], tolerations, hasComparisons) !== undefined
    return !isRefused(after) && (before === undefined || isRefused(before))
  },
  NodeAffinity({ pod }, { after, before }, rules) {
    const matches = requiredNodeAffinity(pod) ?? (() => true)
    const selected = ({ metadata: { name = '', labels } }: Node) => ({ name, labels })
    if (enforcedAffinity(pod, rules)?.(selected(after)) === false) return false
    return matches(selected(after)) && (before === undefined || !matches(selected(before)))
  },
  NodeUnschedulable: (_pod, { after, before }) =>
    after.spec.unschedulable !== true && (before === undefined || before.spec.unschedulable === true),
}

/** True if the Pod would fit on the node if it were empty. */
function hasRoom({ requested }: PodInfo, { after, byDevices }: NodeStates): boolean {
  const all = readAmounts(after.status.allocatable)
  const scalars = [...(requested.scalars ?? [])].every(([name, wanted]) => {
    const offered = all.scalars?.get(name) ?? 0
    return wanted <= offered || (offered === 0 && byDevices.has(name))
  })
  return scalars && requested.cpu <= all.cpu && requested.memory <= all.memory && requested.ephemeral <= all.ephemeral
}

/** True if the node offers more of a requested resource. */
function hasMore({ requested }: PodInfo, { after, before, byDevices }: NodeStates & { readonly before: Node }): boolean {
  const [now, then] = [readAmounts(after.status.allocatable), readAmounts(before.status.allocatable)]
  const pods = ({ status }: Node) => toWhole(status.allocatable?.['pods'])
  const isMore = (wanted: number, left: number, right: number) => wanted > 0 && left > right
  return (
    pods(after) > pods(before) ||
    isMore(requested.cpu, now.cpu, then.cpu) ||
    isMore(requested.memory, now.memory, then.memory) ||
    isMore(requested.ephemeral, now.ephemeral, then.ephemeral) ||
    [...(requested.scalars ?? [])].some(([name, wanted]) => {
      const offered = now.scalars?.get(name) ?? 0
      return isMore(wanted, offered, then.scalars?.get(name) ?? 0) || (offered === 0 && byDevices.has(name))
    })
  )
}
