import type { Taint } from '../placement/taints.ts'
import { type Amounts, addAmounts, noAmounts, readAmounts, toWhole } from './amounts.ts'
import type { Labels, Node } from './objects.ts'
import type { PodInfo } from './pod-info.ts'

const noTaints: readonly Taint[] = []
/** Maximum number of cached counts per node. */
const countsMax = 16

/** Nodes of a cluster with Pods that others are compared with. */
export interface NodeMarks {
  readonly withAffinity: Set<NodeInfo>
  readonly withRequiredAnti: Set<NodeInfo>
}

/** A node with its Pods and their total usage. It is updated when Pods are added or removed. */
export class NodeInfo {
  readonly name: string
  #node: Node
  #allocatable: Amounts
  #podsMax: number
  readonly #pods = new Map<string, PodInfo>()
  readonly #withAffinity = new Set<PodInfo>()
  readonly #withRequiredAnti = new Set<PodInfo>()
  readonly requested: Amounts = noAmounts()
  readonly nonZero = { cpu: 0, memory: 0 }
  /** Cached counts of its Pods, until a Pod is added or removed. */
  readonly #counted = new Map<string, number>()

  readonly #marks: NodeMarks | undefined

  /** `marks` follow the Pods of the node. */
  constructor(node: Node, marks?: NodeMarks) {
    this.#marks = marks
    this.name = node.metadata.name ?? ''
    this.#node = node
    this.#allocatable = readAmounts(node.status.allocatable)
    this.#podsMax = toWhole(node.status.allocatable?.['pods'])
  }

  get node(): Node {
    return this.#node
  }

  get labels(): Labels | undefined {
    return this.#node.metadata.labels
  }

  get taints(): readonly Taint[] {
    return this.#node.spec.taints ?? noTaints
  }

  get allocatable(): Amounts {
    return this.#allocatable
  }

  get podsMax(): number {
    return this.#podsMax
  }

  get podCount(): number {
    return this.#pods.size
  }

  /** Pods by `namespace/name`. */
  get pods(): ReadonlyMap<string, PodInfo> {
    return this.#pods
  }

  /** Pods with any Pod affinity or anti-affinity. */
  get podsWithAffinity(): ReadonlySet<PodInfo> {
    return this.#withAffinity
  }

  get podsWithRequiredAntiAffinity(): ReadonlySet<PodInfo> {
    return this.#withRequiredAnti
  }

  setNode(node: Node): void {
    if (node.status.allocatable !== this.#node.status.allocatable) {
      this.#allocatable = readAmounts(node.status.allocatable)
      this.#podsMax = toWhole(node.status.allocatable?.['pods'])
    }
    this.#node = node
  }

  /** The number of its matching Pods. `what` identifies the match, so that the count is cached. */
  countPods(what: string, matches: (pod: PodInfo) => boolean): number {
    let count = this.#counted.get(what)
    if (count !== undefined) return count
    count = 0
    for (const pod of this.#pods.values()) if (matches(pod)) count++
    if (this.#counted.size >= countsMax) this.#counted.clear()
    this.#counted.set(what, count)
    return count
  }

  addPod(pod: PodInfo): void {
    const known = this.#pods.get(pod.key)
    if (known !== undefined) this.removePod(known)
    this.#pods.set(pod.key, pod)
    this.#counted.clear()
    this.#count(pod, 1)
    if (pod.hasAffinity) {
      this.#withAffinity.add(pod)
      this.#marks?.withAffinity.add(this)
    }
    if (pod.terms.requiredAnti.length > 0) {
      this.#withRequiredAnti.add(pod)
      this.#marks?.withRequiredAnti.add(this)
    }
  }

  removePod(pod: PodInfo): void {
    if (this.#pods.get(pod.key) !== pod) return
    this.#pods.delete(pod.key)
    this.#counted.clear()
    this.#count(pod, -1)
    if (this.#withAffinity.delete(pod) && this.#withAffinity.size === 0) this.#marks?.withAffinity.delete(this)
    if (this.#withRequiredAnti.delete(pod) && this.#withRequiredAnti.size === 0) this.#marks?.withRequiredAnti.delete(this)
  }

  #count({ requested, nonZero }: PodInfo, times: 1 | -1): void {
    addAmounts(this.requested, requested, times)
    this.nonZero.cpu += nonZero.cpu * times
    this.nonZero.memory += nonZero.memory * times
  }
}
