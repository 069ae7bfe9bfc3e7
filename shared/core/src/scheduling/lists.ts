import type { ObjectMeta } from '../meta/object-meta.ts'
import type { LabelSelector } from '../selectors/labels.ts'
import type { Attachment, ResourceClaim, StorageClass, Volume, VolumeClaim } from '../workloads/index.ts'
import { Cluster, type ClusterObjects, type CsiDriver, type CsiNode, type StorageCapacity } from './cluster.ts'
import type { DeviceClass, ResourceSlice } from './devices/objects.ts'
import { fellowTerms } from './fellows.ts'
import { keyOf, type Labels, type Node, type Pod } from './objects.ts'
import { podInfoOf } from './pod-info.ts'
import type { Budget } from './preemption.ts'

interface Named {
  readonly metadata: ObjectMeta
}

interface Selecting extends Named {
  readonly spec?: { readonly selector?: LabelSelector | null }
}

interface MapSelecting extends Named {
  readonly spec?: { readonly selector?: Labels | null }
}

/** The objects that the scheduler reads, as lists. */
export interface ClusterLists {
  readonly nodes: readonly Node[]
  readonly pods: readonly Pod[]
  readonly namespaces: readonly Named[]
  readonly services: readonly MapSelecting[]
  readonly replicationControllers: readonly MapSelecting[]
  readonly replicaSets: readonly Selecting[]
  readonly statefulSets: readonly Selecting[]
  readonly budgets: readonly Budget[]
  readonly claims: readonly VolumeClaim[]
  readonly volumes: readonly Volume[]
  readonly storageClasses: readonly StorageClass[]
  readonly csiNodes: readonly CsiNode[]
  readonly csiDrivers: readonly CsiDriver[]
  readonly capacities: readonly StorageCapacity[]
  readonly attachments: readonly Attachment[]
  readonly resourceClaims: readonly ResourceClaim[]
  readonly deviceClasses: readonly DeviceClass[]
  readonly deviceSlices: readonly ResourceSlice[]
}

/** The cluster described by lists; a missing one is empty. Finished Pods use no resources; Pods without a node count on their nominated node. */
export function clusterOf(lists: Partial<ClusterLists>): Cluster {
  const cluster = new Cluster(objectsOf(lists))
  for (const node of lists.nodes ?? []) cluster.setNode(node)
  for (const pod of lists.pods ?? []) {
    if (pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed') continue
    const info = podInfoOf(pod)
    if (pod.spec.nodeName) cluster.addPod(info, pod.spec.nodeName)
    else cluster.nominate(info, pod.status.nominatedNodeName || undefined)
  }
  return cluster
}

function objectsOf(lists: Partial<ClusterLists>): ClusterObjects {
  const named = <T extends Named>(objects: readonly T[] = []) => new Map(objects.map((object) => [object.metadata.name ?? '', object]))
  const keyed = <T extends Named>(objects: readonly T[] = []) =>
    new Map(objects.map((object) => [keyOf(object.metadata.namespace, object.metadata.name), object]))
  const [namespaces, volumes, classes] = [named(lists.namespaces), named(lists.volumes), named(lists.storageClasses)]
  const [csiNodes, drivers, claims] = [named(lists.csiNodes), named(lists.csiDrivers), keyed(lists.claims)]
  const [resourceClaims, deviceClasses] = [keyed(lists.resourceClaims), named(lists.deviceClasses)]
  const { deviceClasses: classesOfDevices = [], deviceSlices: slices = [] } = lists
  const owners = new Map([
    ['ReplicaSet', keyed(lists.replicaSets)],
    ['StatefulSet', keyed(lists.statefulSets)],
  ])
  const controllers = keyed(lists.replicationControllers)
  const sources = {
    serviceSelectors: (namespace: string) =>
      (lists.services ?? []).filter(({ metadata }) => metadata.namespace === namespace).map(({ spec }) => spec?.selector),
    ownerSelector: ({ kind, name }: { readonly kind: string; readonly name: string }, namespace: string) => {
      const key = keyOf(namespace, name)
      if (kind !== 'ReplicationController') return owners.get(kind)?.get(key)?.spec?.selector
      const matchLabels = controllers.get(key)?.spec?.selector
      return matchLabels == null ? undefined : { matchLabels }
    },
  }
  return {
    namespaceLabels: (name) => {
      const found = namespaces.get(name)
      return found && (found.metadata.labels ?? {})
    },
    fellowsOf: (pod) => fellowTerms(pod, sources),
    claim: (namespace, name) => claims.get(keyOf(namespace, name)),
    volume: (name) => volumes.get(name),
    volumes: () => lists.volumes ?? [],
    storageClass: (name) => classes.get(name),
    csiNode: (name) => csiNodes.get(name),
    csiDriver: (name) => drivers.get(name),
    capacities: () => lists.capacities ?? [],
    attachments: () => lists.attachments ?? [],
    resourceClaim: (namespace, name) => resourceClaims.get(keyOf(namespace, name)),
    resourceClaims: () => lists.resourceClaims ?? [],
    isBeingAllocated: () => false,
    deviceClass: (name) => deviceClasses.get(name),
    deviceClasses: () => classesOfDevices,
    deviceSlices: () => slices,
  }
}
