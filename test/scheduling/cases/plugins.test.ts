import { type FilterName, type ScoreName, scorePlugins, startFilter } from '@orch/core/scheduling'
import { describe, expect, test } from 'vitest'
import { type CaseObjects, casesOf, clusterOf, type NodeAnswer, rulesAt, toAnswer } from './case.ts'

type PluginCase = CaseObjects & { readonly id: string; readonly name: string; readonly feasibleNodes?: readonly string[] } & (
    | {
        readonly mode: 'filter'
        readonly plugin: FilterName
        readonly expected: { readonly statuses?: Readonly<Record<string, NodeAnswer>>; readonly preFilter?: NodeAnswer }
      }
    | { readonly mode: 'score'; readonly plugin: ScoreName; readonly expected: { readonly scores: Readonly<Record<string, number>> } }
  )

const rules = rulesAt(25)

function answer(row: PluginCase): unknown {
  const { cluster, pod } = clusterOf(row)
  if (row.mode === 'score') {
    const nodes = cluster.nodes.filter(({ name }) => row.feasibleNodes?.includes(name) ?? true)
    const scores = scorePlugins.find(({ name }) => name === row.plugin)?.score({ pod, nodes, cluster, rules })
    return { scores: Object.fromEntries(nodes.map(({ name }, at) => [name, scores?.[at] ?? 0])) }
  }
  const start = startFilter(row.plugin, pod, cluster, rules)
  if (start?.kind === 'refused') return { preFilter: toAnswer(start.refusal) }
  const names = start?.kind === 'run' ? start.nodeNames : undefined
  const statuses = cluster.nodes
    .filter(({ name }) => names?.has(name) ?? true)
    .map((node) => [node.name, toAnswer(start?.kind === 'run' ? start.run.filter(node) : undefined)])
  return { statuses: Object.fromEntries(statuses) }
}

describe.each([
  ['node-affinity', 'SCHED-27, SCHED-30, SCHED-31, SCHED-55: nodes are matched and preferred by name, labels and fields'],
  ['fit', 'SCHED-34, SCHED-35, SCHED-52, SCHED-53, SCHED-54: nodes are refused and scored by resources and images'],
  ['ports-taints', 'SCHED-26, SCHED-28, SCHED-29, SCHED-33, SCHED-55: nodes are refused and scored by ports and taints'],
  ['spread', 'SCHED-44, SCHED-45, SCHED-57: nodes are refused and scored by constraints of spreading'],
  ['volumes', 'SCHED-37, SCHED-39, SCHED-40, SCHED-43: nodes are refused by disks, claims and zones'],
  ['interpod', 'SCHED-46, SCHED-47, SCHED-48, SCHED-56: nodes are refused and scored by affinities to Pods'],
])('%s', (file, title) => {
  test(`${title} equal those of kube-scheduler`, () => {
    const rows = casesOf<PluginCase>(file)
    expect(rows.map((row) => [row.id, row.name, answer(row)])).toEqual(rows.map(({ id, name, expected }) => [id, name, sorted(expected)]))
  })
})

/** The order of reasons means nothing. */
function sorted(expected: PluginCase['expected']): unknown {
  if (!('statuses' in expected) || expected.statuses === undefined) return expected
  const inOrder = ({ code, reasons }: NodeAnswer) => ({ code, ...(reasons && { reasons: [...reasons].sort() }) })
  return { statuses: Object.fromEntries(Object.entries(expected.statuses).map(([name, one]) => [name, inOrder(one)])) }
}
