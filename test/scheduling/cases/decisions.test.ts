import { type Budget, choose, fittingNodes, noNodesMessage, preempt, type Refusal, refusalMessage } from '@orch/core/scheduling'
import { describe, expect, test } from 'vitest'
import { type CaseObjects, casesOf, clusterOf, type NodeAnswer, rulesAt, toAnswer } from './case.ts'

interface Decided {
  /** The nodes that refuse the Pod, each with the first plugin that refuses it. */
  readonly filter?: Readonly<Record<string, NodeAnswer & { readonly plugin: string }>>
  readonly feasible?: readonly string[]
  readonly message?: string
  readonly nominatedNode?: string
  readonly victims?: readonly string[]
  readonly total?: Readonly<Record<string, number>>
  /** The nodes with the highest total score. */
  readonly best?: readonly string[]
}

interface DecisionCase extends CaseObjects {
  readonly name: string
  readonly podDisruptionBudgets?: readonly Budget[]
  readonly expected: Decided
}

const rules = rulesAt(25)
const random = () => 0

/** The parts of the answer that the case contains. */
function decide(row: DecisionCase): Decided {
  const { cluster, pod } = clusterOf(row)
  const decision = choose(pod, cluster, { rules, random, startAt: 0 })
  if (decision.kind === 'noNodes') return { feasible: [], message: noNodesMessage }
  if (decision.kind === 'failed') return { feasible: [], message: decision.message }
  const answers = (refusals: ReadonlyMap<string, Refusal>) =>
    Object.fromEntries([...refusals].map(([name, refusal]) => [name, { plugin: refusal.plugin, ...toAnswer(refusal) }]))
  if (decision.kind === 'placed') {
    const fitting = fittingNodes(pod, cluster, { rules, startAt: 0 })
    if (fitting.kind !== 'fitting') return {}
    const names = fitting.nodes.map(({ name }) => name)
    const { scores, node } = decision
    const total = scores && Object.fromEntries(names.map((name, at) => [name, scores.totals[at] ?? 0]))
    const best = row.expected.best?.includes(node) ? row.expected.best : [node]
    return { filter: answers(fitting.refusals), feasible: names, ...(total && { total, best }) }
  }
  const filter = answers(decision.refusals)
  const preemption = preempt(pod, cluster, decision, { rules, random, budgets: row.podDisruptionBudgets ?? [] })
  if (preemption.kind === 'none') return { filter, feasible: [], message: refusalMessage(decision, rules, preemption.message) }
  const { node, victims } = preemption
  return {
    filter,
    feasible: [],
    message: refusalMessage(decision, rules),
    nominatedNode: node,
    victims: victims.map(({ key }) => key).sort(),
  }
}

const sorted = (names: readonly string[] | undefined) => names && [...names].sort()

/** Both answers with the same parts in the same order. */
function comparable(row: DecisionCase, answer: Decided): Decided {
  const { expected } = row
  return {
    ...('filter' in expected && {
      filter: Object.fromEntries(
        Object.entries(answer.filter ?? {}).map(([name, { reasons = [], ...rest }]) => [name, { ...rest, reasons: [...reasons].sort() }]),
      ),
    }),
    ...('feasible' in expected && { feasible: sorted(answer.feasible) ?? [] }),
    ...('message' in expected && { message: answer.message ?? '' }),
    ...('nominatedNode' in expected && { nominatedNode: answer.nominatedNode ?? '', victims: sorted(answer.victims) ?? [] }),
    ...('total' in expected && { total: answer.total ?? {}, best: sorted(answer.best) ?? [] }),
  }
}

const named = (rows: readonly DecisionCase[], answerOf: (row: DecisionCase) => Decided) =>
  rows.map((row) => [row.name, comparable(row, answerOf(row))])

describe.each([
  ['random', 'SCHED-58: nodes, scores, victims and messages in generated clusters'],
  ['preempt-pick', 'SCHED-62: the node of the victims, and the victims,'],
])('%s', (file, title) => {
  test(`${title} equal those of kube-scheduler`, () => {
    const rows = casesOf<DecisionCase>(file)
    expect(named(rows, decide)).toEqual(named(rows, ({ expected }) => expected))
  })
})

const scenarios = Map.groupBy(casesOf<DecisionCase & { readonly group: string }>('scenarios'), ({ group }) => group)

test.each([
  ['resources', 'SCHED-19, SCHED-34, SCHED-35: nodes are refused for all that is short on them'],
  ['scores', 'SCHED-49, SCHED-50, SCHED-52: the node with the highest sum of scores is taken, and a single one without scores'],
  ['node affinity', 'SCHED-20, SCHED-22, SCHED-30, SCHED-31: nodes are chosen by labels and by name, and a missing one is an error'],
  ['taints', 'SCHED-26, SCHED-28, SCHED-29: nodes are refused for taints, and for being cordoned'],
  ['ports', 'SCHED-33: nodes are refused for host ports'],
  ['spread', 'SCHED-44, SCHED-45: nodes are refused for the skew of Pods'],
  ['spread scores', 'SCHED-57: nodes are preferred by the spread of Pods'],
  ['pod affinity', 'SCHED-46, SCHED-47: nodes are refused for the Pods on them'],
  ['pod affinity scores', 'SCHED-56: nodes are preferred for the Pods on them'],
  ['volumes', 'SCHED-21, SCHED-39, SCHED-40, SCHED-41: nodes are refused for volumes, and a claim that waits is counted for all of them'],
  ['messages', 'SCHED-19, SCHED-25: the first plugin that refuses a node gives the reason, and reasons are counted'],
  ['preemption', 'SCHED-59, SCHED-60, SCHED-61, SCHED-67: Pods of lower priority make room, or the message says why none can'],
  ['nominated', 'SCHED-65: nominated Pods count on their node if they are not less important'],
])('$1 equal those of kube-scheduler', (group) => {
  const rows = scenarios.get(group) ?? []
  expect(rows.length).toBeGreaterThan(0)
  expect(named(rows, decide)).toEqual(named(rows, ({ expected }) => expected))
})
