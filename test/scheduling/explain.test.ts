import type { ApiObject } from '@orch/core/meta'
import { expect, test } from 'vitest'
import { CtlServer } from '../client/run-ctl.ts'

const shared = new CtlServer(() => ({ controllers: [] }))
const { ctl } = shared

const create = (object: object) => shared.server.client.objects.create({ apiVersion: 'v1', ...object } as ApiObject)

async function createNode(name: string, cpu: string, taints: readonly object[] = []) {
  const allocatable = { cpu, memory: '8Gi', pods: '110' }
  await create({ kind: 'Node', metadata: { name }, status: { allocatable, capacity: allocatable } })
  const nodes = shared.server.client.resource({ group: '', version: 'v1', plural: 'nodes', namespaced: false })
  // Admission adds a taint to new nodes.
  await nodes.patch(name, { spec: { taints } }, { type: 'merge' })
}

const createPod = (name: string, cpu: string) =>
  create({
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { containers: [{ name: 'c', image: 'img:1', resources: { requests: { cpu } } }] },
  })

test('SCHED-70: the placement of a Pod is explained by node and plugin, without a scheduler', async () => {
  await createPod('early', '1')
  expect(await shared.server.scheduler.explain('default/early')).toEqual({
    pod: 'default/early',
    best: [],
    message: 'no nodes available to schedule pods',
    nodes: [],
  })
  await createNode('large', '8')
  await createNode('small', '4')
  await createNode('tiny', '500m', [{ key: 'a', effect: 'NoSchedule' }])
  const { best, message, nodes } = await shared.server.scheduler.explain('default/early')
  expect([best, message]).toEqual([['large'], undefined])
  const [large, small, tiny] = nodes
  expect(large?.total).toBe(Object.values(large?.scores ?? {}).reduce((sum, score) => sum + score, 0))
  expect(small?.total).toBeLessThan(large?.total ?? 0)
  expect(tiny).toEqual({
    name: 'tiny',
    refusals: [
      { plugin: 'TaintToleration', reasons: ['node(s) had untolerated taint(s)'] },
      { plugin: 'NodeResourcesFit', reasons: ['Insufficient cpu'] },
    ],
  })
  await expect(shared.server.scheduler.explain('default/none')).rejects.toMatchObject({ reason: 'NotFound' })

  expect((await ctl(['explain-schedule', 'early'])).out).toMatch(
    /^NODE +TOTAL +SCORES OR REASONS\nlarge +\d+ +TaintToleration=300; .*\n.*\ndefault\/early fits best on large\n$/s,
  )
  await createPod('huge', '9')
  expect((await ctl(['explain-schedule', 'huge'])).out).toContain(
    '\ndefault/huge fits nowhere: 0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.\n',
  )
  expect(JSON.parse((await ctl(['explain-schedule', 'huge', '-o', 'json'])).out)).toMatchObject({ pod: 'default/huge', best: [] })
  expect((await ctl(['explain-schedule'])).error).toBe('error: one Pod must be named: explain-schedule pod\n')
})
