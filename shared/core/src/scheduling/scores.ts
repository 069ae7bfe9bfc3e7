import type { NodeInfo } from './node-info.ts'
import type { ScoreInput, ScoreName, ScorePlugin } from './plugin.ts'
import { deviceScore } from './plugins/dynamic-resources.ts'
import { imageLocality } from './plugins/image-locality.ts'
import { podAffinityScore } from './plugins/inter-pod-affinity.ts'
import { affinityScore } from './plugins/node-affinity.ts'
import { balancedAllocation, leastAllocated } from './plugins/node-resources.ts'
import { spreadScore } from './plugins/pod-topology-spread.ts'
import { taintScore } from './plugins/taint-toleration.ts'

export const scorePlugins: readonly ScorePlugin[] = [
  taintScore,
  affinityScore,
  leastAllocated,
  spreadScore,
  podAffinityScore,
  balancedAllocation,
  imageLocality,
  deviceScore,
]

/** The scores of some nodes. */
export interface NodeScores {
  /** Score × weight by plugin, in the order of the nodes; plugins without a preference are omitted. */
  readonly byPlugin: ReadonlyMap<ScoreName, readonly number[]>
  readonly totals: readonly number[]
}

/** Scores nodes with all plugins (SCHED-49). */
export function scoreNodes(input: ScoreInput): NodeScores {
  const totals = new Array<number>(input.nodes.length).fill(0)
  const byPlugin = new Map<ScoreName, readonly number[]>()
  for (const { name, weight, score } of scorePlugins) {
    const scores = score(input)
    if (scores === undefined) continue
    const weighted = weight === 1 ? scores : scores.map((one) => one * weight)
    byPlugin.set(name, weighted)
    // Iterating over entries would create an object for each node.
    for (let at = 0; at < weighted.length; at++) totals[at] = (totals[at] ?? 0) + (weighted[at] ?? 0)
  }
  return { byPlugin, totals }
}

/** A node with the highest total, chosen at random among equal nodes. */
export function bestNode(nodes: readonly NodeInfo[], totals: readonly number[], random: () => number): NodeInfo {
  let highest = Number.NEGATIVE_INFINITY
  let best: NodeInfo[] = []
  for (let at = 0; at < nodes.length; at++) {
    const node = nodes[at]
    const total = totals[at] ?? 0
    if (total > highest) [highest, best] = [total, []]
    if (total === highest && node !== undefined) best.push(node)
  }
  const chosen = best[Math.floor(random() * best.length)]
  if (chosen === undefined) throw new Error('there are no nodes to choose from')
  return chosen
}
