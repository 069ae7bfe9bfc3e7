import type { ApiObject } from '@orch/core/meta'
import { type StartOptions, start } from 'orch'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

const within = { timeout: 90_000 }
const namespace = 'team'
const resource = (group: string, plural: string) => ({ group, version: 'v1', plural, namespaced: true })
const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 5, containers: [{ name: 'main', image: 'img:1' }] } }

interface Owner extends ApiObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: Readonly<Record<string, unknown>> & { readonly conditions?: readonly Readonly<Record<string, unknown>>[] }
}

interface Pod extends ApiObject {
  readonly spec?: object
  readonly status?: { readonly phase?: string; readonly conditions?: readonly object[] }
}

interface Event extends ApiObject {
  readonly [field: string]: unknown
}

/** A server with workload controllers and one namespace. */
async function aNamespace(options: StartOptions = { controllers: ['*', 'workloads'] }) {
  const server = await start(options)
  onTestFinished(() => server.stop())
  const { client } = server
  await client
    .resource({ ...resource('', 'namespaces'), namespaced: false })
    .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const pods = client.resource<Pod>(resource('', 'pods'))
  const sets = client.resource<Owner>(resource('apps', 'replicasets'))
  const controllers = client.resource<Owner>(resource('', 'replicationcontrollers'))
  const events = client.resource<Event>(resource('', 'events'))
  const eventsOf = async (kind: string) =>
    (await events.list({ namespace })).items
      .filter(({ involvedObject }) => (involvedObject as { kind?: string }).kind === kind)
      .map(({ count, type, reason, message }) => `${count}x ${type} ${reason} ${String(message).replaceAll(/web-[a-z0-9]{5}/g, 'web-#')}`)
      .sort()
  return {
    server,
    client,
    pods,
    sets,
    controllers,
    eventsOf,
    podNames: async () => (await pods.list({ namespace })).items.map(({ metadata }) => metadata.name ?? '').sort(),
    statusOf: async (name = 'web') => (await sets.get(name, { namespace })).status,
    scale: (replicas: number) => sets.patch('web', { spec: { replicas } }, { type: 'merge', namespace, subresource: 'scale' }),
    ready: (name: string) =>
      pods.patch(
        name,
        { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] } },
        { type: 'merge', subresource: 'status', namespace },
      ),
  }
}

const aSet = (replicas: number, more: object = {}): Owner => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'web', namespace },
  spec: { replicas, selector: { matchLabels: labels }, template, ...more } as { replicas: number },
})

const aBarePod = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, labels },
  spec: template.spec,
})

describe('a ReplicaSet', () => {
  test('WL-RS-02, WL-RS-08, WL-COMMON-15, WL-COMMON-27: creates its Pods, with an event for each, and counts them', async () => {
    const { sets, pods, podNames, statusOf, ready, eventsOf } = await aNamespace()
    const { metadata } = await sets.create(aSet(2))
    await vi.waitFor(
      async () => expect(await statusOf()).toEqual({ replicas: 2, fullyLabeledReplicas: 2, terminatingReplicas: 0, observedGeneration: 1 }),
      within,
    )
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: metadata.uid, controller: true, blockOwnerDeletion: true }
    for (const pod of (await pods.list({ namespace })).items) {
      expect([pod.metadata.generateName, pod.metadata.labels, pod.metadata.ownerReferences]).toEqual(['web-', labels, [owner]])
    }
    await vi.waitFor(
      async () => expect(await eventsOf('ReplicaSet')).toEqual(Array(2).fill('1x Normal SuccessfulCreate Created pod: web-#')),
      within,
    )
    for (const name of await podNames()) await ready(name)
    await vi.waitFor(async () => expect(await statusOf()).toMatchObject({ readyReplicas: 2, availableReplicas: 2 }), within)
  })

  test('WL-RS-02, WL-RS-04, WL-COMMON-28: deletes surplus Pods, unready ones first, with events', async () => {
    const { sets, podNames, statusOf, scale, ready, eventsOf } = await aNamespace()
    await sets.create(aSet(3))
    await vi.waitFor(async () => expect(await podNames()).toHaveLength(3), within)
    const [first = ''] = await podNames()
    await ready(first)
    await vi.waitFor(async () => expect(await statusOf()).toMatchObject({ readyReplicas: 1 }), within)
    await scale(1)
    await vi.waitFor(async () => expect(await podNames()).toEqual([first]), within)
    await vi.waitFor(async () => expect(await eventsOf('ReplicaSet')).toContain('1x Normal SuccessfulDelete Deleted pod: web-#'), within)
    await vi.waitFor(async () => expect(await statusOf()).toMatchObject({ replicas: 1, observedGeneration: 2 }), within)
  })

  test('WL-RS-11: its first status counts no Pod, and after a change of its size none counts the former Pods', async () => {
    const { sets, scale } = await aNamespace()
    const created = await sets.create(aSet(1))
    const statuses: string[] = []
    const select = { namespace, resourceVersion: created.metadata.resourceVersion }
    for await (const { object } of await sets.watch(select)) {
      const { observedGeneration, replicas } = object.status ?? {}
      statuses.push(`${observedGeneration}: ${replicas}`)
      if (statuses.at(-1) === '1: 1') await scale(3)
      if (statuses.at(-1) === '2: 3') break
    }
    expect(statuses[0]).toBe('1: 0')
    expect(statuses).not.toContain('2: 1')
  })

  test('WL-RS-03: replaces a failed Pod and a deleted Pod', async () => {
    const { sets, pods, podNames } = await aNamespace()
    await sets.create(aSet(1))
    await vi.waitFor(async () => expect(await podNames()).toHaveLength(1), within)
    const [first = ''] = await podNames()
    await pods.patch(first, { status: { phase: 'Failed' } }, { type: 'merge', subresource: 'status', namespace })
    await vi.waitFor(async () => expect(await podNames()).toHaveLength(2), within)
    const [second = ''] = (await podNames()).filter((name) => name !== first)
    await pods.delete(second, { namespace })
    await vi.waitFor(async () => expect((await podNames()).filter((name) => name !== first && name !== second)).toHaveLength(1), within)
    expect(await podNames()).toContain(first)
  })

  test('WL-RS-13, WL-RS-14, WL-RS-16, WL-RS-19: adopts matching Pods without a controller, and releases Pods that no longer match', async () => {
    const { sets, pods, podNames } = await aNamespace()
    await pods.create(aBarePod('bare'))
    const { metadata } = await sets.create(aSet(2))
    const ownersOf = async (name: string) => (await pods.get(name, { namespace })).metadata.ownerReferences?.map(({ uid }) => uid) ?? []
    await vi.waitFor(async () => expect([await ownersOf('bare'), (await podNames()).length]).toEqual([[metadata.uid], 2]), within)
    await pods.patch('bare', { metadata: { labels: { app: 'debug' } } }, { type: 'merge', namespace })
    await vi.waitFor(async () => expect([await ownersOf('bare'), (await podNames()).length]).toEqual([[], 3]), within)
    await sets.delete('web', { namespace }, { propagationPolicy: 'Orphan' })
    const orphans = (await podNames()).filter((name) => name !== 'bare')
    const setNames = async () => (await sets.list({ namespace })).items.map((set) => set.metadata.name)
    await vi.waitFor(async () => expect([await setNames(), ...(await Promise.all(orphans.map(ownersOf)))]).toEqual([[], [], []]), within)
    const next = await sets.create(aSet(2))
    const { uid } = next.metadata
    await vi.waitFor(async () => expect(await Promise.all(orphans.map(ownersOf))).toEqual([[uid], [uid]]), within)
    expect(await podNames()).toEqual(['bare', ...orphans].sort())
  })

  test('WL-RS-10, WL-RS-17, WL-COMMON-01, WL-COMMON-27: reports a full quota, and continues when it has capacity', async () => {
    const { client, sets, podNames, statusOf, eventsOf } = await aNamespace()
    const quotas = client.resource<ApiObject>(resource('', 'resourcequotas'))
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace }, spec: { hard: { pods: '0' } } }
    await quotas.create(quota)
    await vi.waitFor(async () => expect((await quotas.get('q', { namespace }))['status']).toMatchObject({ hard: { pods: '0' } }), within)
    await sets.create(aSet(3))
    await vi.waitFor(
      async () =>
        expect((await statusOf())?.conditions).toMatchObject([
          { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: expect.stringContaining('exceeded quota: q') },
        ]),
      within,
    )
    await vi.waitFor(
      async () =>
        expect((await eventsOf('ReplicaSet')).join()).toMatch(
          /Warning FailedCreate Error creating: pods "web-#" is forbidden: exceeded quota: q/,
        ),
      within,
    )
    await quotas.delete('q', { namespace })
    await vi.waitFor(async () => expect(await podNames()).toHaveLength(3), within)
    await vi.waitFor(async () => expect(await statusOf()).toMatchObject({ replicas: 3 }), within)
    expect((await statusOf())?.conditions).toBeUndefined()
  })

  test('WL-RS-20, WL-RS-21, WL-COMMON-25, WL-COMMON-26: makes Pods of its template, and is not written for their other changes', async () => {
    const { server, sets, pods } = await aNamespace()
    const metadata = { labels: { ...labels, tier: 'front' }, annotations: { note: 'x' }, finalizers: ['example.com/kept'] }
    await sets.create(aSet(2, { template: { ...template, metadata } }))
    await server.settled({ within: 60_000 })
    const { items } = await pods.list({ namespace })
    for (const pod of items) {
      const { name, labels: own, annotations, finalizers } = pod.metadata
      expect(name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
      expect({ labels: own, annotations, finalizers }).toEqual(metadata)
    }
    expect(items).toHaveLength(2)
    const before = await sets.get('web', { namespace })
    await pods.patch(items[0]?.metadata.name ?? '', { metadata: { annotations: { note: 'y' } } }, { type: 'merge', namespace })
    await server.settled({ within: 60_000 })
    expect(await sets.get('web', { namespace })).toEqual(before)
  })

  test('WL-COMMON-32: counts a Pod as available after its minReadySeconds, without another event', async () => {
    const { sets, pods, podNames, statusOf } = await aNamespace()
    await sets.create(aSet(1, { minReadySeconds: 1 }))
    await vi.waitFor(async () => expect(await podNames()).toHaveLength(1), within)
    const [name = ''] = await podNames()
    const lastTransitionTime = new Date(Date.now() + 1_000).toISOString().replace(/\.\d+Z/, 'Z')
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime }]
    await pods.patch(name, { status: { phase: 'Running', conditions } }, { type: 'merge', subresource: 'status', namespace })
    await vi.waitFor(async () => expect(await statusOf()).toMatchObject({ readyReplicas: 1, availableReplicas: 1 }), within)
  })
})

test('CTRL-10, WL-RC-01, WL-RC-02, WL-RC-03: a ReplicationController has labels and selector of its template, creates its Pods and counts them', async () => {
  const { controllers, podNames, eventsOf } = await aNamespace({ controllers: ['*', 'replicationcontroller-controller'] })
  const { metadata, spec } = await controllers.create({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name: 'web', namespace },
    spec: { replicas: 2, template } as { replicas: number },
  })
  expect([metadata.labels, spec]).toMatchObject([labels, { selector: labels }])
  await vi.waitFor(
    async () =>
      expect((await controllers.get('web', { namespace })).status).toEqual({ replicas: 2, fullyLabeledReplicas: 2, observedGeneration: 1 }),
    within,
  )
  expect(await podNames()).toHaveLength(2)
  await vi.waitFor(async () => expect(await eventsOf('ReplicationController')).toHaveLength(2), within)
})

test('WL-COMMON-40: no workload controller runs unless it is enabled', async () => {
  const { sets, client, podNames, statusOf } = await aNamespace({ controllers: ['*'] })
  await sets.create(aSet(2))
  // The running controllers have started work by then.
  const accounts = client.resource<ApiObject>(resource('', 'serviceaccounts'))
  await vi.waitFor(async () => expect((await accounts.get('default', { namespace })).kind).toBe('ServiceAccount'), within)
  expect([await podNames(), await statusOf()]).toEqual([[], { replicas: 0 }])
})
