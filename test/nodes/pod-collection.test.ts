import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type NodeCluster, openNodeCluster } from './cluster.ts'

const finalizers = ['example.com/kept']
const gone = undefined

describe.each(['1.25', '1.37'])('the Pod garbage collector at level %s', (version) => {
  const isNew = version === '1.37'
  let cluster: NodeCluster

  beforeAll(async () => {
    cluster = await openNodeCluster({ version, controllers: ['podgc'], flags: ['--terminated-pod-gc-threshold=2'] })
  })
  afterAll(() => cluster?.server.stop())

  test('WL-NODE-09: deletes the oldest finished Pods beyond the threshold, and evicted Pods before them from 1.27 on', async () => {
    const { clock, createPod, patchPod, pod } = cluster
    for (const name of ['first', 'second', 'third', 'evicted']) {
      await createPod(name)
      await clock.advance('1s')
    }
    await patchPod('first', { phase: 'Succeeded' })
    await patchPod('second', { phase: 'Failed' })
    await patchPod('evicted', { phase: 'Failed', reason: 'Evicted' })
    await clock.advance('20s')
    const isGone = async (name: string) => (await pod(name)) === gone
    const found = [await isGone('evicted'), await isGone('first'), await isGone('second'), await isGone('third')]
    expect(found).toEqual(isNew ? [true, false, false, false] : [false, true, false, false])
  })

  test('WL-NODE-07, NODE-LC-16: fails Pods of a node that is absent for 40 s, with the condition DisruptionTarget, and deletes them', async () => {
    const { clock, createNode, deleteNode, createPod, patchPod, pod } = cluster
    await createNode('lost')
    await createPod('orphan', { spec: { nodeName: 'lost' } })
    await createPod('kept', { metadata: { finalizers }, spec: { nodeName: 'lost' } })
    await patchPod('kept', { phase: 'Running' })
    await deleteNode('lost')
    await clock.advance('40s')
    expect([(await pod('orphan'))?.metadata.deletionTimestamp, (await pod('kept'))?.status.phase]).toEqual([undefined, 'Running'])
    await clock.advance('20s')
    const kept = await pod('kept')
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
      lastTransitionTime: '2026-01-01T00:01:20Z',
    }
    expect([await pod('orphan'), kept?.metadata['deletionGracePeriodSeconds'], kept?.status.phase]).toEqual([
      gone,
      0,
      isNew ? 'Failed' : 'Running',
    ])
    expect(kept?.status.conditions ?? []).toMatchObject(isNew ? [{ ...condition, observedGeneration: 1 }] : [])
  })

  test('WL-NODE-07: keeps the Pods of a node that returns before its quarantine ends', async () => {
    const { clock, createNode, deleteNode, createPod, pod } = cluster
    await createNode('back')
    await createPod('lucky', { spec: { nodeName: 'back' } })
    await deleteNode('back')
    await clock.advance('20s')
    await createNode('back')
    await clock.advance('2m')
    expect((await pod('lucky'))?.metadata.deletionTimestamp).toBeUndefined()
  })

  test('WL-NODE-08: deletes a terminating Pod on a node that is out of service and not ready from 1.26 on', async () => {
    const { clock, createNode, report, createPod, deletePod, pod } = cluster
    const taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }
    await createNode('down', { spec: { taints: [taint] } })
    await createNode('up', { spec: { taints: [taint] } })
    await report('up')
    for (const node of ['down', 'up']) {
      await createPod(`on-${node}`, { spec: { nodeName: node } })
      await deletePod(`on-${node}`)
    }
    await createPod('alive', { spec: { nodeName: 'down' } })
    await clock.advance('20s')
    expect([(await pod('on-down')) === gone, (await pod('on-up')) === gone, (await pod('alive')) === gone]).toEqual([isNew, false, false])
  })

  test('WL-NODE-08: fails a terminating Pod that was never bound from 1.26 on', async () => {
    const { clock, createPod, deletePod, pod } = cluster
    await createPod('unbound', { metadata: { finalizers } })
    await deletePod('unbound')
    await clock.advance('20s')
    expect((await pod('unbound'))?.status).toMatchObject(isNew ? { phase: 'Failed', observedGeneration: 2 } : { phase: 'Pending' })
  })
})
