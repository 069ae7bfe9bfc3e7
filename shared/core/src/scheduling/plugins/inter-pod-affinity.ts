import { type AffinityTerm, matchesAffinity } from '../affinity-terms.ts'
import type { Cluster } from '../cluster.ts'
import type { NodeInfo } from '../node-info.ts'
import { type FilterPlugin, type FilterRun, type Refusal, type ScorePlugin, scoreMax, skip } from '../plugin.ts'
import type { PodInfo } from '../pod-info.ts'

const plugin = 'InterPodAffinity'
const ofAffinity: Refusal = { plugin, isResolvable: false, reasons: ["node(s) didn't match pod affinity rules"] }
const ofAntiAffinity: Refusal = { plugin, isResolvable: true, reasons: ["node(s) didn't match pod anti-affinity rules"] }
const ofExisting: Refusal = { plugin, isResolvable: true, reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"] }

/** Counts by node label and value. */
class TopologyCounts {
  readonly #counts = new Map<string, Map<string, number>>()

  get isEmpty(): boolean {
    return this.#counts.size === 0
  }

  get(key: string, value: string): number {
    return this.#counts.get(key)?.get(value) ?? 0
  }

  keys(): Iterable<string> {
    return this.#counts.keys()
  }

  /** Adds to the count for the node's value; a count of 0 is removed. */
  add({ labels }: NodeInfo, key: string, by: number): void {
    const value = labels?.[key]
    if (value === undefined) return
    const values = this.#counts.get(key) ?? new Map<string, number>()
    const count = (values.get(value) ?? 0) + by
    if (count === 0) values.delete(value)
    else values.set(value, count)
    if (values.size === 0) this.#counts.delete(key)
    else this.#counts.set(key, values)
  }
}

/** Refuses nodes by the Pod's affinities, and by anti-affinities of existing Pods (SCHED-46, SCHED-47). */
export const podAffinityFilter: FilterPlugin = {
  name: plugin,
  start(pod, cluster) {
    const { problem } = pod.terms
    if (problem !== undefined) return { kind: 'refused', refusal: { plugin, isResolvable: false, reasons: [`parsing pod: ${problem}`] } }
    const run = new AffinityRun(pod, cluster)
    return run.isNeeded ? { kind: 'run', run } : skip
  },
}

class AffinityRun implements FilterRun {
  readonly #pod: PodInfo
  readonly #cluster: Cluster
  /** Pods that match all required terms, per topology. */
  readonly #wanted = new TopologyCounts()
  /** Pods that match a required anti-affinity. */
  readonly #unwanted = new TopologyCounts()
  /** Pods whose required anti-affinity matches the Pod. */
  readonly #rejecting = new TopologyCounts()

  constructor(pod: PodInfo, cluster: Cluster) {
    this.#pod = pod
    this.#cluster = cluster
    const hasTerms = pod.terms.required.length + pod.terms.requiredAnti.length > 0
    for (const node of hasTerms ? cluster.nodes : cluster.nodesWithRequiredAntiAffinity) {
      const concerned = hasTerms ? node.pods.values() : node.podsWithRequiredAntiAffinity
      for (const other of concerned) this.count(other, node, 1)
    }
  }

  get isNeeded(): boolean {
    const { required, requiredAnti } = this.#pod.terms
    return required.length + requiredAnti.length > 0 || !this.#rejecting.isEmpty
  }

  count(other: PodInfo, node: NodeInfo, by: 1 | -1): void {
    const { required, requiredAnti } = this.#pod.terms
    if (required.length > 0 && required.every((term) => this.#selects(term, other))) {
      for (const { topologyKey } of required) this.#wanted.add(node, topologyKey, by)
    }
    for (const term of requiredAnti) if (this.#selects(term, other)) this.#unwanted.add(node, term.topologyKey, by)
    for (const term of other.terms.requiredAnti) if (this.#selects(term, this.#pod)) this.#rejecting.add(node, term.topologyKey, by)
  }

  filter(node: NodeInfo): Refusal | undefined {
    if (!this.#hasWanted(node)) return ofAffinity
    const { labels } = node
    for (const { topologyKey } of this.#pod.terms.requiredAnti) {
      const value = labels?.[topologyKey]
      if (value !== undefined && this.#unwanted.get(topologyKey, value) > 0) return ofAntiAffinity
    }
    for (const key of this.#rejecting.keys()) {
      const value = labels?.[key]
      if (value !== undefined && this.#rejecting.get(key, value) > 0) return ofExisting
    }
    return undefined
  }

  /** A Pod that matches its own terms may be the first of its group. */
  #hasWanted({ labels }: NodeInfo): boolean {
    const { required } = this.#pod.terms
    let isMet = true
    for (const { topologyKey } of required) {
      const value = labels?.[topologyKey]
      if (value === undefined) return false
      if (this.#wanted.get(topologyKey, value) <= 0) isMet = false
    }
    return isMet || (this.#wanted.isEmpty && required.every((term) => this.#selects(term, this.#pod)))
  }

  #selects(term: AffinityTerm, pod: PodInfo): boolean {
    return matchesAffinity(term, pod, this.#cluster.objects.namespaceLabels(pod.namespace))
  }
}

/** The weight of required affinities of existing Pods. */
const requiredWeight = 1

/** Prefers nodes by the preferred terms of the Pod and of existing Pods (SCHED-56). */
export const podAffinityScore: ScorePlugin = {
  name: plugin,
  weight: 2,
  score({ pod, nodes, cluster }) {
    const sums = new TopologyCounts()
    const labelsOf = (one: PodInfo) => cluster.objects.namespaceLabels(one.namespace)
    const add = (node: NodeInfo, term: AffinityTerm, weight: number, selected: PodInfo) => {
      if (matchesAffinity(term, selected, labelsOf(selected))) sums.add(node, term.topologyKey, weight)
    }
    const { preferred } = pod.terms
    for (const node of preferred.length > 0 ? cluster.nodes : cluster.nodesWithAffinity) {
      const concerned: Iterable<PodInfo> = preferred.length > 0 ? node.pods.values() : node.podsWithAffinity
      for (const other of concerned) {
        for (const term of preferred) add(node, term, term.weight, other)
        for (const term of other.terms.required) add(node, term, requiredWeight, pod)
        for (const term of other.terms.preferred) add(node, term, term.weight, pod)
      }
    }
    if (sums.isEmpty) return undefined
    return stretch(
      nodes.map(({ labels }) => {
        let sum = 0
        for (const key of sums.keys()) if (labels?.[key] !== undefined) sum += sums.get(key, labels[key])
        return sum
      }),
    )
  },
}

/** Scales sums from 0 for the lowest to 100 for the highest. */
function stretch(sums: readonly number[]): readonly number[] {
  const [lowest, highest] = [Math.min(...sums), Math.max(...sums)]
  return sums.map((sum) => (highest === lowest ? 0 : Math.trunc(scoreMax * ((sum - lowest) / (highest - lowest)))))
}
