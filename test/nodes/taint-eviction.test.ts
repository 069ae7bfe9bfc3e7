import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type NodeCluster, openNodeCluster } from './cluster.ts'

const taint = { key: 'example.com/away', effect: 'NoExecute' }
const tolerations = (tolerationSeconds?: number) => [
  { ...taint, operator: 'Exists', ...(tolerationSeconds !== undefined && { tolerationSeconds }) },
]

describe.each(['1.25', '1.37'])('evictions by taints at level %s', (version) => {
  const isNew = version === '1.37'
  const component = isNew ? 'taint-eviction-controller' : 'taint-controller'
  let cluster: NodeCluster

  beforeAll(async () => {
    cluster = await openNodeCluster({ version, controllers: ['taint-eviction'] })
  })
  afterAll(() => cluster?.server.stop())

  const eventsOf = async (pod: string) => (await cluster.events()).filter((event) => event.endsWith(`default/${pod}`))
  const setTaints = (name: string, taints: readonly object[]) => cluster.patchNode(name, { spec: { taints } })

  test('NODE-LC-08, WL-NODE-03, WL-NODE-04: Pods leave a tainted node at once, after their tolerationSeconds, or never', async () => {
    const { clock, createNode, createPod, pod, podNames, now } = cluster
    await createNode('n')
    const of = (seconds?: number) => ({ spec: { nodeName: 'n', tolerations: tolerations(seconds) } })
    await createPod('intolerant', { metadata: { finalizers: ['example.com/kept'] }, spec: { nodeName: 'n' } })
    await createPod('minute', of(60))
    await createPod('negative', of(-1))
    await createPod('always', of())
    await setTaints('n', [taint])
    await clock.advance('1s')
    const intolerant = await pod('intolerant')
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      observedGeneration: 1,
    }
    expect(intolerant?.status.conditions ?? []).toMatchObject(isNew ? [condition] : [])
    expect(intolerant?.metadata['deletionGracePeriodSeconds']).toBe(30)
    const isGoing = async (name: string) => (await pod(name))?.metadata.deletionTimestamp !== undefined
    expect([await isGoing('negative'), await isGoing('minute'), await isGoing('always')]).toEqual([true, false, false])
    await clock.advance('58s')
    expect(await isGoing('minute')).toBe(false)
    await clock.advance('1s')
    expect([await isGoing('minute'), await isGoing('always'), now()]).toEqual([true, false, '2026-01-01T00:01:00Z'])
    expect(await podNames()).toHaveLength(4)
    expect(await eventsOf('minute')).toEqual([`${component} Normal TaintManagerEviction Marking for deletion Pod default/minute`])
    // The condition of a terminating Pod stays, although its generation has grown.
    await setTaints('n', [])
    await clock.advance('1s')
    await setTaints('n', [taint])
    await clock.advance('1s')
    expect((await pod('intolerant'))?.status.conditions ?? []).toMatchObject(isNew ? [condition] : [])
  })

  test('NODE-LC-08: a taint that is removed in time cancels the eviction, and a returning taint restarts its time', async () => {
    const { clock, createNode, createPod, pod } = cluster
    await createNode('m', { spec: { taints: [taint] } })
    await createPod('saved', { spec: { nodeName: 'm', tolerations: tolerations(60) } })
    await clock.advance('50s')
    await setTaints('m', [])
    await clock.advance('50s')
    await setTaints('m', [taint])
    await clock.advance('50s')
    expect((await pod('saved'))?.metadata.deletionTimestamp).toBeUndefined()
    expect(await eventsOf('saved')).toEqual([`${component} Normal TaintManagerEviction Cancelling deletion of Pod default/saved`])
    await clock.advance('10s')
    expect((await pod('saved'))?.metadata.deletionTimestamp).toBeDefined()
  })

  test('NODE-LC-08: a second taint without toleration ends the wait, and a longer toleration does not extend it', async () => {
    const { clock, server, createNode, createPod, pod } = cluster
    const other = { key: 'example.com/other', effect: 'NoExecute' }
    await createNode('o', { spec: { taints: [taint] } })
    await createPod('waiting', { spec: { nodeName: 'o', tolerations: tolerations(60) } })
    await createPod('longer', { spec: { nodeName: 'o', tolerations: [...tolerations(60), { ...other, operator: 'Exists' }] } })
    await clock.advance('10s')
    const pods = server.client.resource({ group: '', version: 'v1', plural: 'pods', namespaced: true })
    const [first, ...rest] = (await pod('longer'))?.spec.tolerations ?? []
    const patch = { spec: { tolerations: [{ ...first, tolerationSeconds: 600 }, ...rest] } }
    await pods.patch('longer', patch, { type: 'merge', namespace: 'default' })
    await setTaints('o', [taint, other])
    await clock.advance('1s')
    expect([(await pod('waiting'))?.metadata.deletionTimestamp !== undefined, await eventsOf('waiting')]).toEqual([
      true,
      [
        `${component} Normal TaintManagerEviction Cancelling deletion of Pod default/waiting`,
        `${component} Normal TaintManagerEviction Marking for deletion Pod default/waiting`,
      ],
    ])
    expect((await pod('longer'))?.metadata.deletionTimestamp).toBeUndefined()
    await clock.advance('49s')
    expect((await pod('longer'))?.metadata.deletionTimestamp).toBeDefined()
  })
})
