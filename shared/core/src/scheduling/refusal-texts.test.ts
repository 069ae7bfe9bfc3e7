import { expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import { explainScheduling } from './explain.ts'
import type { Node, Pod } from './objects.ts'
import { schedulingRules } from './rules.ts'

const rules = schedulingRules({ names: namesOf('kubernetes'), level: 25, isGateOn: () => false })
const aNode = (name: string, taints: readonly object[] = []) => {
  const allocatable = { cpu: '4', memory: '8Gi', pods: '110' }
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: {} }, spec: { taints }, status: { allocatable } } as unknown as Node
}
const messageFor = (spec: object, taints: readonly object[] = []) => {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'default', uid: 'p' }, spec, status: {} } as unknown as Pod
  return explainScheduling(pod, { nodes: [aNode('n', taints)], pods: [pod] }, rules).message
}

test.each<[string, { spec: object; taints?: object[] }, string]>([
  ['a taint', { spec: {}, taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] }, 'node(s) had untolerated taint {k: v}'],
  ['labels', { spec: { nodeSelector: { a: 'b' } } }, "node(s) didn't match Pod's node affinity/selector"],
])(
  'SCHED-24: at 1.25 a refusal for %s has the text of 1.25 and that of preemption, which 1.20 has not',
  (_title, { spec, taints }, reason) => {
    const preemption = 'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.'
    expect(messageFor(spec, taints)).toBe(`0/1 nodes are available: 1 ${reason}. ${preemption}`)
  },
)
