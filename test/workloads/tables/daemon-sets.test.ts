import { namesOf } from '@orch/core/names'
import { type DaemonSet, daemonTolerations, fitOf, type NodeView } from '@orch/core/workloads'
import { expect, test } from 'vitest'
import { byId, type Row, rowsOf } from './rows.ts'

type Template = DaemonSet['spec']['template']
type Taint = NonNullable<NodeView['spec']['taints']>[number]

interface NodeRow extends Row {
  readonly node: {
    readonly name: string
    readonly labels: Readonly<Record<string, string>> | null
    readonly taints: readonly Taint[] | null
    readonly unschedulable: boolean
  }
  readonly podSpec: Omit<Template['spec'], 'containers'>
  readonly shouldRun: boolean
  readonly shouldContinueRunning: boolean
}

test('WL-DS-01, WL-DS-02, WL-DS-04: the nodes of Pods equal those of kube-controller-manager', () => {
  const rows = rowsOf<NodeRow>('daemonset-nodes', 'shouldRun')
  const options = { tolerations: daemonTolerations(namesOf('kubernetes')), hasComparisons: false }
  const found = byId(rows, ({ node: { name, labels, taints, unschedulable }, podSpec }) => {
    const node: NodeView = { metadata: { name, labels: labels ?? {} }, spec: { taints: taints ?? [], unschedulable } }
    const { shouldRun, shouldContinue } = fitOf({ metadata: {}, spec: { ...podSpec, containers: [] } }, node, options)
    return [shouldRun, shouldContinue]
  })
  expect(found).toEqual(byId(rows, ({ shouldRun, shouldContinueRunning }) => [shouldRun, shouldContinueRunning]))
})
