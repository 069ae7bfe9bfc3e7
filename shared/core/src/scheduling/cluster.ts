import type { BuiltIn } from '../schema/built-in.ts'
import type { LabelRequirement } from '../selectors/selection.ts'
import type { Attachment, ResourceClaim, StorageClass, Volume, VolumeClaim } from '../workloads/index.ts'
import type { DeviceClass, ResourceSlice } from './devices/objects.ts'
import { NodeInfo, type NodeMarks } from './node-info.ts'
import type { Labels, Node, Pod } from './objects.ts'
import type { PodInfo } from './pod-info.ts'

export type CsiNode = BuiltIn<'storage/v1.CSINode'>
export type CsiDriver = BuiltIn<'storage/v1.CSIDriver'>
export type StorageCapacity = BuiltIn<'storage/v1.CSIStorageCapacity'>

/** Objects besides Nodes and Pods that affect decisions. */
export interface ClusterObjects {
  /** The labels of a namespace; undefined if it does not exist. */
  namespaceLabels(name: string): Labels | undefined
  /** The terms that select Pods of the same Services and owner; empty if there are none. */
  fellowsOf(pod: Pod): readonly LabelRequirement[]
  claim(namespace: string, name: string): VolumeClaim | undefined
  volume(name: string): Volume | undefined
  volumes(): Iterable<Volume>
  storageClass(name: string): StorageClass | undefined
  csiNode(name: string): CsiNode | undefined
  csiDriver(name: string): CsiDriver | undefined
  capacities(): Iterable<StorageCapacity>
  attachments(): Iterable<Attachment>
  resourceClaim(namespace: string, name: string): ResourceClaim | undefined
  /** All device claims, with decided allocations that are not visible yet. */
  resourceClaims(): Iterable<ResourceClaim>
  /** True if an allocation of the claim was decided and is not visible yet. */
  isBeingAllocated(claim: ResourceClaim): boolean
  deviceClass(name: string): DeviceClass | undefined
  /** The same list until a class changes. */
  deviceClasses(): readonly DeviceClass[]
  /** The same list until a slice changes. */
  deviceSlices(): readonly ResourceSlice[]
}

/**
 * The nodes and their Pods, as decisions see them. Changes are applied one by one, so that decisions need no copy. A Pod whose
 * node is missing is kept, and counts when the node arrives.
 */
export class Cluster {
  readonly objects: ClusterObjects
  readonly #nodes = new Map<string, NodeInfo>()
  readonly #marks: NodeMarks = { withAffinity: new Set(), withRequiredAnti: new Set() }
  #list: readonly NodeInfo[] | undefined
  /** Pods of missing nodes, by node name. */
  readonly #waiting = new Map<string, Map<string, PodInfo>>()
  /** The node of each Pod, by `namespace/name`. */
  readonly #places = new Map<string, string>()
  /** Nodes that have an image, by image name. */
  readonly #images = new Map<string, Map<string, number>>()
  /** Pods nominated for a node, where their victims are being terminated, by node name. */
  readonly #nominated = new Map<string, Map<string, PodInfo>>()

  constructor(objects: ClusterObjects) {
    this.objects = objects
  }

  /** The nodes in order of arrival. */
  get nodes(): readonly NodeInfo[] {
    this.#list ??= [...this.#nodes.values()]
    return this.#list
  }

  /** Nodes with Pods that have an affinity of any kind to Pods. */
  get nodesWithAffinity(): ReadonlySet<NodeInfo> {
    return this.#marks.withAffinity
  }

  get nodesWithRequiredAntiAffinity(): ReadonlySet<NodeInfo> {
    return this.#marks.withRequiredAnti
  }

  node(name: string): NodeInfo | undefined {
    return this.#nodes.get(name)
  }

  setNode(node: Node): void {
    const { name = '' } = node.metadata
    const known = this.#nodes.get(name)
    if (known !== undefined) {
      this.#forgetImages(name, known.node.status.images)
      known.setNode(node)
    } else {
      const info = new NodeInfo(node, this.#marks)
      for (const pod of this.#waiting.get(name)?.values() ?? []) info.addPod(pod)
      this.#waiting.delete(name)
      this.#nodes.set(name, info)
      this.#list = undefined
    }
    for (const { names, sizeBytes = 0 } of node.status.images ?? []) {
      for (const image of names ?? []) this.#images.set(image, (this.#images.get(image) ?? new Map()).set(name, sizeBytes))
    }
  }

  /** Removes a node; its Pods stay known. */
  removeNode(name: string): void {
    const known = this.#nodes.get(name)
    if (known === undefined) return
    this.#nodes.delete(name)
    this.#list = undefined
    this.#marks.withAffinity.delete(known)
    this.#marks.withRequiredAnti.delete(known)
    this.#forgetImages(name, known.node.status.images)
    if (known.podCount > 0) this.#waiting.set(name, new Map(known.pods))
  }

  /** Puts a Pod on a node, and replaces its earlier state. */
  addPod(pod: PodInfo, node: string): void {
    this.removePod(pod.key)
    this.#places.set(pod.key, node)
    const info = this.#nodes.get(node)
    if (info !== undefined) info.addPod(pod)
    else this.#waiting.set(node, (this.#waiting.get(node) ?? new Map<string, PodInfo>()).set(pod.key, pod))
  }

  removePod(key: string): void {
    const place = this.#places.get(key)
    if (place === undefined) return
    this.#places.delete(key)
    const info = this.#nodes.get(place)
    const pod = info?.pods.get(key)
    if (pod !== undefined) info?.removePod(pod)
    const waiting = this.#waiting.get(place)
    waiting?.delete(key)
    if (waiting?.size === 0) this.#waiting.delete(place)
  }

  /** The node of a Pod; undefined if it has none. */
  placeOf(key: string): string | undefined {
    return this.#places.get(key)
  }

  /** The size of an image in bytes on each node that has it, by node name. */
  imageSizes(image: string): ReadonlyMap<string, number> | undefined {
    return this.#images.get(image)
  }

  /** The node for which a Pod is nominated; undefined for none. */
  nominationOf(key: string): string | undefined {
    for (const [node, pods] of this.#nominated) if (pods.has(key)) return node
    return undefined
  }

  /** Nominates a Pod for a node; undefined removes the nomination. */
  nominate(pod: PodInfo, node: string | undefined): void {
    for (const [name, pods] of this.#nominated) if (pods.delete(pod.key) && pods.size === 0) this.#nominated.delete(name)
    if (node !== undefined) this.#nominated.set(node, (this.#nominated.get(node) ?? new Map<string, PodInfo>()).set(pod.key, pod))
  }

  get hasNominations(): boolean {
    return this.#nominated.size > 0
  }

  nominatedTo(node: string): Iterable<PodInfo> {
    return this.#nominated.get(node)?.values() ?? noPods
  }

  #forgetImages(node: string, images: NonNullable<Node['status']['images']> | undefined): void {
    for (const image of (images ?? []).flatMap(({ names }) => names ?? [])) {
      const nodes = this.#images.get(image)
      nodes?.delete(node)
      if (nodes?.size === 0) this.#images.delete(image)
    }
  }
}

const noPods: readonly PodInfo[] = []
