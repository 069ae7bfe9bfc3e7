import { noExecuteTaints, planEviction, type Stay, shortestStay, stayBeside, type Taint } from '@orch/core/node-lifecycle'
import type { Node, Pod } from '@orch/core/workloads'
import { expect, test } from 'vitest'
import { type Row, rowsOf } from './rows.ts'

interface PodRow extends Row {
  readonly description: string
  readonly expectDelete: boolean
  readonly taintedNodes: Readonly<Record<string, readonly Taint[]>>
  readonly pod?: Pod
  readonly prevPod?: Pod
  readonly newPod?: Pod
  readonly additionalSleep?: string
}

interface NodeRow extends Row {
  readonly description: string
  readonly expectDelete?: boolean
  readonly expectedDeleteTimes?: readonly { readonly names: readonly string[]; readonly timestamp: string }[]
  readonly pods: readonly Pod[]
  readonly node?: Node
  readonly oldNode?: Node
  readonly newNode?: Node
  readonly additionalSleep?: string
}

interface TimeRow extends Row {
  readonly expected: string
  readonly tolerations: Parameters<typeof shortestStay>[0]
}

/** The texts of durations in the tables. */
const durations: Readonly<Record<string, number>> = { '0s': 0, '1s': 1000, '1.5s': 1500 }
const toMs = (text = '0s') => durations[text] ?? Number.NaN

type Look = readonly [pod: Pod | undefined, taints: readonly Taint[] | undefined]

/** The time of the Pod's eviction after these checks, all at time 0. Undefined: no eviction is planned. */
function dueAfter(looks: readonly Look[]): number | undefined {
  let dueMs: number | undefined
  for (const [pod, taints] of looks) {
    if (pod?.spec.nodeName === undefined || taints === undefined) continue
    dueMs = planEviction(stayBeside(taints, pod.spec.tolerations ?? [], false), dueMs, 0).dueMs
  }
  return dueMs
}

const taintsOn = ({ taintedNodes }: PodRow, pod: Pod | undefined) => taintedNodes[pod?.spec.nodeName ?? '']
const taintsOf = (node: Node | undefined) => node && noExecuteTaints(node.spec?.taints)

test.each([...rowsOf<PodRow>('taint-manager', 'TestCreatePod'), ...rowsOf<PodRow>('taint-manager', 'TestUpdatePod')])(
  'NODE-LC-08: a Pod is evicted, or not, as recorded: $description',
  (row) => {
    const dueMs = dueAfter([row.pod, row.prevPod, row.newPod].map((pod) => [pod, taintsOn(row, pod)]))
    expect(dueMs !== undefined && dueMs <= toMs(row.additionalSleep)).toBe(row.expectDelete)
  },
)

test.each(['TestCreateNode', 'TestUpdateNode', 'TestUpdateNodeWithMultiplePods'].flatMap((func) => rowsOf<NodeRow>('taint-manager', func)))(
  'NODE-LC-08: a node evicts Pods as recorded: $description',
  (row) => {
    const dueOf = (pod: Pod) => dueAfter([row.node, row.oldNode, row.newNode].map((node) => [pod, taintsOf(node)]))
    const due = row.pods.map((pod) => ({ name: pod.metadata.name, dueMs: dueOf(pod) }))
    if (row.expectDelete !== undefined)
      expect(due.some(({ dueMs }) => dueMs !== undefined && dueMs <= toMs(row.additionalSleep))).toBe(row.expectDelete)
    const expected = row.expectedDeleteTimes?.flatMap(({ names, timestamp }) => names.map((name) => ({ name, dueMs: toMs(timestamp) })))
    if (expected !== undefined) expect(due.filter(({ dueMs }) => dueMs !== undefined)).toEqual(expected)
  },
)

test.each(rowsOf<TimeRow>('taint-manager', 'TestGetMinTolerationTime'))(
  'NODE-LC-08: the toleration time of $tolerations is $expected',
  (row) => {
    const stays: Readonly<Record<string, Stay>> = { '0s': { kind: 'none' }, '-1ns': { kind: 'forever' }, '1s': { kind: 'for', ms: 1000 } }
    expect(shortestStay(row.tolerations)).toEqual(stays[row.expected])
  },
)
