import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseFeatureGates } from '@orch/core/feature-gates'
import type { ApiObject, ObjectMeta } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import {
  type Cluster,
  type ClusterLists,
  type CsiDriver,
  type CsiNode,
  clusterOf as clusterOfLists,
  type Labels,
  type Node,
  type Pod,
  type PodInfo,
  podInfoOf,
  type Refusal,
  type StorageCapacity,
  schedulingRules,
} from '@orch/core/scheduling'
import type { LabelSelector } from '@orch/core/selectors'
import type { StorageClass, Volume, VolumeClaim } from '@orch/core/workloads'

/** The objects of a case, without members that do not matter for it. */
export interface CaseObjects {
  readonly pod: Partial<Pod>
  readonly nodes: readonly Partial<Node>[]
  readonly pods?: readonly Partial<Pod>[]
  readonly namespaces?: readonly ApiObject[]
  readonly services?: readonly { readonly metadata: ObjectMeta; readonly spec: { readonly selector?: Labels } }[]
  readonly persistentVolumeClaims?: readonly Partial<VolumeClaim>[]
  readonly persistentVolumes?: readonly Partial<Volume>[]
  readonly storageClasses?: readonly StorageClass[]
  readonly csiNodes?: readonly CsiNode[]
  readonly attachments?: ClusterLists['attachments']
  readonly csiDrivers?: readonly CsiDriver[]
  readonly csiStorageCapacities?: readonly StorageCapacity[]
  readonly replicaSets?: readonly { readonly metadata: ObjectMeta; readonly spec: { readonly selector: LabelSelector } }[]
}

/** The answer for one node. */
export type NodeAnswer = ReturnType<typeof toAnswer>

/** The cases of a file. */
export function casesOf<T>(file: string): readonly T[] {
  const text = readFileSync(join(import.meta.dirname, `${file}.jsonl`), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line): T => JSON.parse(line))
}

/** The rules of a level with its default feature gates. */
export function rulesAt(level: number) {
  const gates = parseFeatureGates([], level)
  if (gates.kind === 'refused') throw new Error(gates.message)
  return schedulingRules({ names: namesOf('kubernetes'), level, isGateOn: gates.isOn })
}

/** The cluster of a case, and its Pod. Objects without a name receive one. */
export function clusterOf(row: CaseObjects): { readonly cluster: Cluster; readonly pod: PodInfo } {
  const { pod, nodes, pods = [], namespaces = [], services = [], replicaSets = [] } = row
  const existing = pods.map((one, at) => complete<Pod>(one, 'Pod', `pod-${at}`))
  const cluster = clusterOfLists({
    nodes: nodes.map((node) => complete<Node>(node, 'Node', 'node')),
    pods: existing,
    namespaces,
    services: services.map(inNamespace),
    replicaSets: replicaSets.map(inNamespace),
    claims: (row.persistentVolumeClaims ?? []).map((claim) => inNamespace(withStatus<VolumeClaim>(claim))),
    volumes: (row.persistentVolumes ?? []).map((volume) => withStatus<Volume>(volume)),
    storageClasses: row.storageClasses ?? [],
    csiNodes: row.csiNodes ?? [],
    csiDrivers: row.csiDrivers ?? [],
    capacities: row.csiStorageCapacities ?? [],
    attachments: row.attachments ?? [],
  })
  // The recorded scheduler also received finished Pods, which a server's scheduler does not see.
  for (const one of existing) if (one.spec.nodeName) cluster.addPod(podInfoOf(one), one.spec.nodeName)
  return { cluster, pod: podInfoOf(complete<Pod>(pod, 'Pod', 'incoming')) }
}

function inNamespace<T extends { readonly metadata: ObjectMeta }>(object: T): T {
  return { ...object, metadata: { namespace: 'default', ...object.metadata } }
}

function withStatus<T extends VolumeClaim | Volume>(object: Partial<T>): T {
  return { spec: {}, status: {}, ...object } as T
}

function complete<T extends Pod | Node>(object: Partial<T>, kind: string, name: string): T {
  const metadata = { name, ...object.metadata }
  const namespace = kind === 'Pod' && { namespace: '', uid: `${metadata.namespace}/${metadata.name}` }
  return { apiVersion: 'v1', kind, spec: {}, status: {}, ...object, metadata: { ...namespace, ...metadata } } as T
}

/** Converts a refusal to the wording of the cases. */
export function toAnswer(refusal: Refusal | undefined) {
  if (refusal === undefined) return { code: 'Success' }
  return { code: refusal.isResolvable ? 'Unschedulable' : 'UnschedulableAndUnresolvable', reasons: [...refusal.reasons].sort() }
}
