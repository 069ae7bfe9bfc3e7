import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import type { Node, Pod } from '../workloads/pods.ts'
import { refusalOf, refusedStatus } from './admission.ts'

const names = namesOf('kubernetes')
const [, ...lines] = readFileSync(join(import.meta.dirname, 'cases', 'kubelet-predicates.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')

interface Row {
  readonly name: string
  readonly node: Node
  readonly pods: readonly Pod[]
  readonly pod: Pod
  readonly reasons: readonly string[]
}

/** Completes an object with the members that a row omits. */
const filled = <T>(object: object): T => ({ metadata: {}, spec: {}, status: {}, ...object }) as T

test.each(lines.map((line): [string, Row] => [JSON.parse(line).name, JSON.parse(line)]))(
  'NODE-SIM-18, NODE-SIM-19: a node admits or refuses the Pod of the table "%s"',
  (_, { node, pods, pod, reasons }) => {
    const refusal = refusalOf({ pod: filled(pod), node: filled(node), others: pods.map((other) => filled<Pod>(other)), names, level: 25 })
    expect(refusal?.message).toBe(reasons[0])
  },
)

const allocatable = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '10Gi', pods: '3', 'example.com/gpu': '1' }
const aNode = (spec: Node['spec'] = {}): Node =>
  filled({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels: { pool: 'a' } }, spec, status: { allocatable } })
const aPod = (spec: object, metadata: Pod['metadata'] = {}): Pod =>
  filled({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [], ...spec }, status: {} })
const requesting = (requests: Record<string, string>) => ({ containers: [{ name: 'c', resources: { requests } }] })

describe('a Pod that is bound to a node which does not fit', () => {
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } }
  test.each<[name: string, pod: Pod, reason: string, message: string]>([
    [
      'too much cpu',
      aPod(requesting({ cpu: '3' })),
      'OutOfcpu',
      "Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000",
    ],
    [
      'too many devices',
      aPod(requesting({ 'example.com/gpu': '2' })),
      'OutOfexample.com/gpu',
      "Node didn't have enough resource: example.com/gpu, requested: 2, used: 0, capacity: 1",
    ],
    [
      'another selector',
      aPod({ nodeSelector: { pool: 'b' } }),
      'NodeAffinity',
      "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ],
    [
      'an affinity to nothing',
      aPod({ affinity }),
      'NodeAffinity',
      "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ],
    ['another system', aPod({ os: { name: 'windows' } }), 'PodOSNotSupported', "Failed to admit pod as the OS field doesn't match node OS"],
    [
      'the label of another system',
      aPod({}, { labels: { 'kubernetes.io/os': 'windows' } }),
      'PodOSSelectorNodeLabelDoesNotMatch',
      "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    ],
    ['no toleration', aPod({}), 'TaintToleration', "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"],
  ])('NODE-SIM-18, NODE-SIM-19: is refused for %s', (_, pod, reason, message) => {
    const taints = [{ key: 'k', effect: 'NoExecute' }]
    expect(refusalOf({ pod, node: aNode({ taints }), others: [aPod(requesting({ cpu: '2' }))], names, level: 37 })).toEqual({
      reason,
      message,
    })
  })

  test('NODE-SIM-18, NODE-SIM-21: is refused beyond the number of Pods, where finished Pods do not count', () => {
    const others = [aPod({}), aPod({}), aPod({})]
    const message = "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3"
    expect(refusalOf({ pod: aPod({}), node: aNode(), others, names, level: 37 })).toEqual({ reason: 'OutOfpods', message })
    const finished = others.map((pod) => ({ ...pod, status: { phase: 'Failed' } }))
    expect(refusalOf({ pod: aPod({}), node: aNode(), others: finished, names, level: 37 })).toBeUndefined()
  })

  test('NODE-SIM-17: has failed, with the text of the level', () => {
    const refusal = { reason: 'OutOfcpu', message: 'no cpu' }
    expect(refusedStatus(aPod({}), refusal, { level: 25, nowMs: 0 })).toEqual({
      ...{ phase: 'Failed', reason: 'OutOfcpu', message: 'Pod no cpu', startTime: '1970-01-01T00:00:00Z' },
    })
    expect(refusedStatus(aPod({}), refusal, { level: 37, nowMs: 0 })).toMatchObject({ message: 'Pod was rejected: no cpu' })
  })

  test('is not checked for a resource that the node does not report', () => {
    expect(refusalOf({ pod: aPod(requesting({ 'example.com/other': '2' })), node: aNode(), others: [], names, level: 37 })).toBeUndefined()
  })
})
