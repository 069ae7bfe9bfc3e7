import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseFeatureGates } from '@orch/core/feature-gates'
import type { ApiObject, ObjectMeta } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import {
  Cluster,
  type ClusterObjects,
  type CsiDriver,
  type CsiNode,
  fellowTerms,
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

/** The objects of a case. Members that have no bearing on it are left out. */
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
  readonly csiDrivers?: readonly CsiDriver[]
  readonly csiStorageCapacities?: readonly StorageCapacity[]
  readonly replicaSets?: readonly { readonly metadata: ObjectMeta; readonly spec: { readonly selector: LabelSelector } }[]
}

/** The answer for one node. */
export interface NodeAnswer {
  readonly code: 'Success' | 'Unschedulable' | 'UnschedulableAndUnresolvable'
  readonly reasons?: readonly string[]
}

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

/** The cluster of a case, and its Pod. Nameless objects get names. */
export function clusterOf(objects: CaseObjects): { readonly cluster: Cluster; readonly pod: PodInfo } {
  const { pod, nodes, pods = [] } = objects
  const cluster = new Cluster(objectsOf(objects))
  for (const node of nodes) cluster.setNode(complete<Node>(node, 'Node', 'node'))
  for (const [at, one] of pods.entries()) {
    const placed = complete<Pod>(one, 'Pod', `pod-${at}`)
    const info = podInfoOf(placed)
    if (placed.spec.nodeName) cluster.addPod(info, placed.spec.nodeName)
    else cluster.nominate(info, placed.status.nominatedNodeName || undefined)
  }
  return { cluster, pod: podInfoOf(complete<Pod>(pod, 'Pod', 'incoming')) }
}

function objectsOf(objects: CaseObjects): ClusterObjects {
  const { namespaces = [], services = [], replicaSets = [], csiStorageCapacities = [] } = objects
  const claims = (objects.persistentVolumeClaims ?? []).map((claim) => withStatus<VolumeClaim>(claim))
  const volumes = (objects.persistentVolumes ?? []).map((volume) => withStatus<Volume>(volume))
  const isIn = (namespace: string) => (object: { readonly metadata: ObjectMeta }) => (object.metadata.namespace ?? 'default') === namespace
  return {
    namespaceLabels: (name) => {
      const found = namespaces.find(({ metadata }) => metadata.name === name)
      return found && (found.metadata.labels ?? {})
    },
    claim: (namespace, name) => claims.filter(isIn(namespace || 'default')).find(({ metadata }) => metadata.name === name),
    volume: (name) => named(volumes, name),
    volumes: () => volumes,
    storageClass: (name) => named(objects.storageClasses, name),
    csiNode: (name) => named(objects.csiNodes, name),
    csiDriver: (name) => named(objects.csiDrivers, name),
    capacities: () => csiStorageCapacities,
    fellowsOf: (pod) =>
      fellowTerms(pod, {
        serviceSelectors: (namespace) => services.filter(isIn(namespace)).map(({ spec }) => spec.selector),
        ownerSelector: ({ name }, namespace) =>
          replicaSets.filter(isIn(namespace)).find(({ metadata }) => metadata.name === name)?.spec.selector,
      }),
  }
}

function named<T extends { readonly metadata: ObjectMeta }>(objects: readonly T[] | undefined, name: string): T | undefined {
  return objects?.find(({ metadata }) => metadata.name === name)
}

function withStatus<T extends VolumeClaim | Volume>(object: Partial<T>): T {
  return { spec: {}, status: {}, ...object } as T
}

function complete<T extends Pod | Node>(object: Partial<T>, kind: string, name: string): T {
  const metadata = { name, ...object.metadata }
  const namespace = kind === 'Pod' && { namespace: '', uid: `${metadata.namespace}/${metadata.name}` }
  return { apiVersion: 'v1', kind, spec: {}, status: {}, ...object, metadata: { ...namespace, ...metadata } } as T
}

/** A refusal in the words of the cases. */
export function toAnswer(refusal: Refusal | undefined): NodeAnswer {
  if (refusal === undefined) return { code: 'Success' }
  return { code: refusal.isResolvable ? 'Unschedulable' : 'UnschedulableAndUnresolvable', reasons: [...refusal.reasons].sort() }
}
