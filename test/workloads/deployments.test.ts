import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApiObject } from '@orch/core/meta'
import { aFolder } from '@orch/testkit/folder'
import { type StartOptions, start, virtualClock } from 'orch'
import { expect, onTestFinished, test } from 'vitest'

const namespace = 'team'
const labels = { app: 'x' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'registry.example/app:1' }] } }
const resource = (group: string, plural: string) => ({ group, version: 'v1', plural, namespaced: true })

interface Workload extends ApiObject {
  readonly spec?: unknown
  readonly status?: Readonly<Record<string, unknown>>
}

interface Event extends ApiObject {
  readonly reason?: string
  readonly message?: string
}

/** A server with workload controllers and one namespace, whose clock the test moves. */
async function aNamespace(options: StartOptions = {}) {
  const clock = virtualClock({ start: new Date('2026-01-01T00:00:00Z') })
  const server = await start({ clock, seed: 1, profile: 'kubernetes', controllers: ['*', 'workloads'], ...options })
  onTestFinished(() => server.stop())
  const { client } = server
  await client.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const sets = client.resource<Workload>(resource('apps', 'replicasets'))
  const deployments = client.resource<Workload>(resource('apps', 'deployments'))
  return {
    clock,
    client,
    deployments,
    load: server.load,
    create: (kind: string, name: string, spec: object) =>
      client.objects.create({ apiVersion: 'apps/v1', kind, metadata: { name, namespace }, spec } as ApiObject),
    setNames: async () => (await sets.list({ namespace })).items.map(({ metadata }) => metadata.name).sort(),
    messages: async (reason: string) =>
      (await client.resource<Event>(resource('', 'events')).list({ namespace })).items
        .filter((event) => event.reason === reason)
        .map(({ message }) => message)
        .sort(),
  }
}

const rollout = (replicas: number) => ({ replicas, selector: { matchLabels: labels }, template })

test('WL-DEP-03, WL-DEP-42, WL-DEP-53, WL-HASH-14: at level 1.25 names, messages and the status are those of that release', async () => {
  const { clock, create, deployments, setNames, messages } = await aNamespace({ version: '1.25' })
  await create('Deployment', 'web', rollout(2))
  await clock.advance(1_000)
  expect(await setNames()).toEqual(['web-6d996ccf46'])
  await deployments.patch('web', { spec: { replicas: 3 } }, { type: 'merge', namespace })
  await clock.advance(1_000)
  expect(await messages('ScalingReplicaSet')).toEqual([
    'Scaled up replica set web-6d996ccf46 to 2',
    'Scaled up replica set web-6d996ccf46 to 3 from 2',
  ])
  const { status } = await deployments.get('web', { namespace })
  expect(status).toMatchObject({ replicas: 3, updatedReplicas: 3, unavailableReplicas: 3 })
  expect(status).not.toHaveProperty('terminatingReplicas')
})

test('WL-DEP-09, WL-HASH-01: a name used by another ReplicaSet is skipped', async () => {
  const { clock, create, deployments, setNames } = await aNamespace({ flags: ['--emulated-version=1.37'] })
  const other = { metadata: { labels: { app: 'other' } }, spec: template.spec }
  await create('ReplicaSet', 'web-7dbcdf4d55', { replicas: 0, selector: { matchLabels: { app: 'other' } }, template: other })
  await create('Deployment', 'web', rollout(1))
  await clock.advance(1_000)
  expect(await setNames()).toEqual(['web-76746589db', 'web-7dbcdf4d55'])
  expect((await deployments.get('web', { namespace })).status).toMatchObject({ collisionCount: 1, replicas: 1 })
})

test('WL-DEP-10: a refused ReplicaSet causes a condition and an event, and is created when the quota has capacity', async () => {
  const { clock, client, create, deployments, setNames, messages } = await aNamespace({ version: '1.25' })
  const spec = { hard: { 'count/replicasets.apps': '0' } }
  await client.objects.create({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace }, spec } as ApiObject)
  await clock.advance(1_000)
  await create('Deployment', 'web', rollout(1))
  await clock.advance(1_000)
  const refusal = expect.stringMatching(/^Failed to create new replica set "web-6d996ccf46": .*exceeded quota: q/)
  expect((await deployments.get('web', { namespace })).status?.['conditions']).toMatchObject([
    { type: 'Progressing', status: 'False', reason: 'ReplicaSetCreateError', message: refusal },
  ])
  expect((await messages('ReplicaSetCreateError'))[0]).toEqual(refusal)
  await client.objects.delete({ apiVersion: 'v1', kind: 'ResourceQuota', name: 'q', namespace })
  await clock.advance('30s')
  expect(await setNames()).toEqual(['web-6d996ccf46'])
})

test('WL-DEP-46: a rollout without progress fails at its deadline', async () => {
  const { clock, create, deployments } = await aNamespace()
  await create('Deployment', 'web', { ...rollout(1), progressDeadlineSeconds: 60 })
  const reason = async () => {
    const { status } = await deployments.get('web', { namespace })
    const conditions = status?.['conditions'] as readonly { readonly type: string; readonly reason: string }[]
    return conditions.find(({ type }) => type === 'Progressing')?.reason
  }
  await clock.advance('55s')
  expect(await reason()).toBe('ReplicaSetUpdated')
  await clock.advance('10s')
  expect(await reason()).toBe('ProgressDeadlineExceeded')
})

test('WL-COMMON-19: a stored Deployment or DaemonSet with an empty selector causes an event, and controls nothing', async () => {
  const { clock, client, deployments, load, messages, setNames } = await aNamespace({ nodes: 1 })
  const folder = aFolder()
  const stored = (kind: string) => ({
    ...{ apiVersion: 'apps/v1', kind, metadata: { name: 'all', namespace, uid: kind, generation: 2 } },
    ...{ spec: { selector: {}, template }, status: {} },
  })
  writeFileSync(
    join(folder, 'dump.json'),
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [stored('Deployment'), stored('DaemonSet')] }),
  )
  await load(folder)
  await clock.advance(1_000)
  expect(await messages('SelectingAll')).toEqual([
    'This daemon set is selecting all pods. A non-empty selector is required.',
    'This deployment is selecting all pods. A non-empty selector is required.',
  ])
  expect((await deployments.get('all', { namespace })).status).toEqual({ observedGeneration: 2 })
  expect([await setNames(), (await client.resource(resource('', 'pods')).list({ namespace })).items]).toEqual([[], []])
})
