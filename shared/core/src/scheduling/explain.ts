import { choose } from './choose.ts'
import { filterNames, startFilter } from './filters.ts'
import { type ClusterLists, clusterOf } from './lists.ts'
import { noNodesMessage, refusalMessage } from './message.ts'
import { keyOf, type Pod } from './objects.ts'
import type { FilterName, ScoreName } from './plugin.ts'
import { podInfoOf } from './pod-info.ts'
import { preempt } from './preemption.ts'
import type { SchedulingRules } from './rules.ts'
import { scoreNodes } from './scores.ts'

/** One node as the scheduler sees it. */
export interface ExplainedNode {
  readonly name: string
  /** Every filter that refuses the node, with its reasons; empty if the Pod fits. */
  readonly refusals: readonly { readonly plugin: FilterName; readonly reasons: readonly string[] }[]
  /** Score × weight by plugin, if the Pod fits; plugins without a preference are omitted. */
  readonly scores?: Readonly<Partial<Record<ScoreName, number>>>
  readonly total?: number
}

/** A table of nodes and plugins for a Pod, and the resulting decision. */
export interface SchedulingExplanation {
  /** `namespace/name`. */
  readonly pod: string
  /** The node of the Pod; undefined if it has none. */
  readonly boundTo?: string
  /** The nodes with the highest total, from which the scheduler picks one at random. */
  readonly best: readonly string[]
  /** The message of the condition PodScheduled, if no node fits. */
  readonly message?: string
  /** Pods to preempt, `namespace/name`, and their node. */
  readonly preemption?: { readonly node: string; readonly victims: readonly string[] }
  readonly nodes: readonly ExplainedNode[]
}

/**
 * The placement of a Pod as it would be decided now. A Pod that has a node is placed as if it had none. All filters are evaluated for each node,
 * while the scheduler stops at the first refusal.
 */
export function explainScheduling(pod: Pod, lists: Partial<ClusterLists>, rules: SchedulingRules): SchedulingExplanation {
  const { namespace, name } = pod.metadata
  const { nodeName = '', ...spec } = pod.spec
  const info = podInfoOf({ ...pod, spec })
  const cluster = clusterOf({ ...lists, pods: lists.pods?.filter(({ metadata }) => metadata.uid !== pod.metadata.uid) })
  const starts = filterNames.map((plugin) => ({ plugin, start: startFilter(plugin, info, cluster, rules) }))
  const refusalsOf = (node: (typeof cluster.nodes)[number]) =>
    starts.flatMap(({ plugin, start }): ExplainedNode['refusals'] => {
      if (start === undefined || start.kind === 'skip') return []
      const refusal = start.kind === 'refused' ? start.refusal : start.run.filter(node)
      return refusal === undefined ? [] : [{ plugin, reasons: refusal.reasons }]
    })
  const looks = cluster.nodes.map((node) => ({ node, refusals: refusalsOf(node) }))
  const fitting = looks.filter(({ refusals }) => refusals.length === 0).map(({ node }) => node)
  const scores = fitting.length === 0 ? undefined : scoreNodes({ pod: info, nodes: fitting, cluster, rules })
  const highest = Math.max(...(scores?.totals ?? []))
  const nodes = looks.map(({ node, refusals }): ExplainedNode => {
    const at = fitting.indexOf(node)
    if (at < 0 || scores === undefined) return { name: node.name, refusals }
    const byPlugin = Object.fromEntries([...scores.byPlugin].map(([plugin, list]) => [plugin, list[at] ?? 0]))
    return { name: node.name, refusals, scores: byPlugin, total: scores.totals[at] ?? 0 }
  })
  return {
    pod: keyOf(namespace, name),
    ...(nodeName !== '' && { boundTo: nodeName }),
    best: nodes.filter(({ total }) => total !== undefined && total === highest).map((node) => node.name),
    ...(fitting.length === 0 && refusalOf(info, cluster, lists, rules)),
    nodes,
  }
}

function refusalOf(
  pod: ReturnType<typeof podInfoOf>,
  cluster: ReturnType<typeof clusterOf>,
  { budgets = [] }: Partial<ClusterLists>,
  rules: SchedulingRules,
): Pick<SchedulingExplanation, 'message' | 'preemption'> {
  const random = () => 0
  const decision = choose(pod, cluster, { rules, random, startAt: 0 })
  switch (decision.kind) {
    case 'placed':
      return {}
    case 'noNodes':
      return { message: noNodesMessage }
    case 'failed':
      return { message: decision.message }
    case 'refused': {
      const preemption = preempt(pod, cluster, decision, { rules, random, budgets })
      const message = refusalMessage(decision, rules, preemption.message)
      if (preemption.kind === 'none') return { message }
      const { node, victims } = preemption
      return { message, preemption: { node, victims: victims.map(({ key }) => key) } }
    }
  }
}
