import { type RunningServer, start, type VirtualClock, virtualClock } from 'orch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { image, labels, oneSet, resource } from './one-set.ts'

describe.each(['1.25', '1.37'])('DaemonSets at level %s', (version) => {
  let server: RunningServer
  let clock: VirtualClock

  beforeAll(async () => {
    clock = virtualClock({ start: new Date('2026-01-01T00:00:00Z') })
    server = await start({ clock, seed: 1, profile: 'kubernetes', controllers: ['*', 'workloads'], version })
    await server.client.objects.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } })
    // Admission adds a taint to new nodes.
    await setTaints([])
  })
  afterAll(() => server?.stop())

  const setTaints = (taints: readonly object[]) =>
    server.client.resource({ ...resource('', 'nodes'), namespaced: false }).patch('n', { spec: { taints } }, { type: 'merge' })

  const open = (namespace: string) => oneSet(namespace, server, clock, { kind: 'DaemonSet', plural: 'daemonsets', name: 'ds' })

  test('WL-DS-13: replace a failed Pod at once, and the next one after a second', async () => {
    const { createSet, settle, bind, end, podNames, events } = await open('failed')
    await createSet()
    await settle()
    const [first = ''] = await podNames()
    await bind(first)
    await end(first, 'Failed')
    await settle('100ms')
    const [second = ''] = await podNames()
    expect(second).not.toBe(first)
    await end(second, 'Failed')
    await settle('100ms')
    expect(await podNames()).toEqual([second])
    await settle()
    const [third = ''] = await podNames()
    expect([third === second, await events()]).toEqual([
      false,
      [
        ...[first, second, third].map((name) => `Normal SuccessfulCreate Created pod: ${name}`),
        ...[first, second].map((name) => `Normal SuccessfulDelete Deleted pod: ${name}`),
        ...[first, second].map((name) => `Warning FailedDaemonPod Found failed daemon pod failed/${name} on node n, will try to kill it`),
      ].sort(),
    ])
  })

  test('WL-DS-13: replace a succeeded Pod from 1.26 on', async () => {
    const { createSet, settle, end, podNames, events } = await open('succeeded')
    await createSet()
    await settle()
    const [first = ''] = await podNames()
    await end(first, 'Succeeded')
    await settle()
    const isReplaced = version !== '1.25'
    const event = `Normal SucceededDaemonPod Found succeeded daemon pod succeeded/${first} on node n, will try to delete it`
    expect([(await podNames())[0] !== first, (await events()).includes(event)]).toEqual([isReplaced, isReplaced])
  })

  test('WL-DS-15: adopt a bare Pod with matching labels on the right node, and keep its labels', async () => {
    const { create, createSet, settle, pods, status } = await open('adoption')
    await create('v1', 'Pod', { name: 'bare', labels }, { spec: { ...image(1).spec, nodeName: 'n' } })
    await createSet({ updateStrategy: { type: 'OnDelete' } })
    await settle()
    const ownerReferences = [{ kind: 'DaemonSet', name: 'ds', controller: true }]
    expect(await pods()).toMatchObject([{ metadata: { name: 'bare', labels, ownerReferences } }])
    expect(await status()).toMatchObject({ currentNumberScheduled: 1, desiredNumberScheduled: 1 })
    expect(await status()).not.toHaveProperty('updatedNumberScheduled')
  })

  test('WL-DS-23: raise the collision count for a name of other data, and use another hash', async () => {
    const first = await open('collision')
    await first.createSet()
    await first.settle()
    const [revision] = await first.revisions()
    const { create, createSet, settle, pods, revisions, status } = await open('collision-again')
    await create('apps/v1', 'ControllerRevision', { name: revision?.metadata.name }, { data: { other: true }, revision: 1 })
    await createSet()
    await settle()
    const own = (await revisions()).find(({ metadata }) => metadata.name !== revision?.metadata.name)
    const hash = own?.metadata.labels?.['controller-revision-hash']
    expect(own?.metadata.name).toBe(`ds-${hash}`)
    expect(await status()).toMatchObject({ collisionCount: 1, updatedNumberScheduled: 1 })
    expect(await pods()).toMatchObject([{ metadata: { labels: { 'controller-revision-hash': hash } } }])
  })

  test('WL-DS-25: merge revisions of equal templates, and their Pods get the remaining hash', async () => {
    const { create, createSet, settle, pods, revisions, patchSet } = await open('duplicates')
    await createSet()
    await settle()
    const [revision] = await revisions()
    const other = { ...labels, 'controller-revision-hash': 'other' }
    await create('apps/v1', 'ControllerRevision', { name: 'ds-other', labels: other }, { data: revision?.data, revision: 5 })
    const [before] = await pods()
    await patchSet({ minReadySeconds: 1 })
    await settle()
    expect(await revisions()).toMatchObject([{ metadata: { name: 'ds-other' }, revision: 5 }])
    expect(await pods()).toMatchObject([{ metadata: { uid: before?.metadata.uid, labels: other } }])
  })

  test('WL-DS-11, WL-DS-10: evict a Pod for a NoExecute taint, and create it again without the taint', async () => {
    const { createSet, settle, podNames, status } = await open('taints')
    await createSet()
    await settle()
    await setTaints([{ key: 'k', effect: 'NoExecute' }])
    await settle()
    const without = [await podNames(), (await status())?.['desiredNumberScheduled']]
    await setTaints([])
    await settle()
    expect([without, (await podNames()).length]).toEqual([[[], 0], 1])
  })

  test('WL-DS-18: with a surge create the new Pod before the old one is deleted, ready for minReadySeconds', async () => {
    const { createSet, settle, makeReady, patchSet, pods } = await open('surge')
    await createSet({ minReadySeconds: 1, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } })
    await settle()
    const images = async () => (await pods()).map(({ spec }) => spec?.containers?.[0]?.image?.slice(-1)).sort()
    const readyAll = async () => {
      for (const { metadata } of await pods()) await makeReady(metadata.name ?? '')
    }
    await readyAll()
    await settle()
    await patchSet({ template: image(2) })
    await settle('100ms')
    expect(await images()).toEqual(['1', '2'])
    await readyAll()
    await settle('100ms')
    expect(await images()).toEqual(['1', '2'])
    await settle()
    expect(await images()).toEqual(['2'])
  })

  test('WL-DS-32: create no Pods while a set waits for the end of its Pods', async () => {
    const { createSet, settle, bind, deleteSet, deletePod, podNames, setNames } = await open('foreground')
    await createSet()
    await settle()
    const [name = ''] = await podNames()
    await bind(name)
    await deleteSet('Foreground')
    await settle()
    expect([await podNames(), await setNames()]).toEqual([[name], ['ds']])
    await deletePod(name)
    await settle()
    expect([await podNames(), await setNames()]).toEqual([[], []])
  })
})
