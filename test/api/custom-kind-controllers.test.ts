import type { StatusError } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { silentLog, systemClock } from '@orch/platform'
import { aConfigMap, someQueueMetrics } from '@orch/testkit'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { garbageCollector } from '../../services/controllers/src/index.ts'
import { aWebhookServer, type Reply } from '../admission/webhook-server.ts'
import { aName, aNamespace, anApi, type Body, created, until } from './api.ts'
import { aConvertedKind, answeringObjects, conversionBy, converting, urlOf, versionOf, widget } from './conversion-hook.ts'

const refusing: Reply = answeringObjects(() => ({ result: { status: 'Failure', message: 'not today' } }))

/** Objects that v1 stored, while the definition now stores v2 and lists v2 first, and a webhook that then refuses conversions. */
async function withOldObjects() {
  const api = await anApi({ profile: 'kubernetes', controllers: ['*'] })
  const kind = await aConvertedKind(api)
  const { namespace } = kind
  const configMaps = `/api/v1/namespaces/${namespace}/configmaps`
  const owner = await created(api, configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner' } })
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }
  const old = { ...widget(kind, 'v1', 'owned', { size: 1 }), metadata: { name: 'owned', ownerReferences: [reference] } }
  await created(api, kind.at('v1'), old)
  await created(api, kind.at('v1'), widget(kind, 'v1', 'free', { size: 2 }))
  const change = { spec: { conversion: conversionBy(urlOf(kind.hook)), versions: [versionOf('v1', 'v2'), versionOf('v2', 'v2')] } }
  expect((await api.patch(kind.definition, change)).status).toBe(200)
  kind.hook.reply = refusing
  return { api, kind, namespace, reference, owner: `${configMaps}/owner` }
}

test('dependants in an older version are deleted after their owner when the conversion webhook works again, and others do not wait', async () => {
  const { api, kind, owner, reference } = await withOldObjects()
  const path = `/api/v1/namespaces/${kind.namespace}/secrets`
  await created(api, path, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'other', ownerReferences: [reference] } })
  expect((await api.delete(owner)).status).toBe(200)
  await until(
    () => api.get(`${path}/other`),
    ({ status }) => status === 404,
  )
  kind.hook.reply = converting
  const { body } = await until(
    () => api.get(kind.at('v2')),
    ({ body }) => body.items.length === 1,
  )
  expect(body.items).toMatchObject([{ metadata: { name: 'free' } }])
})

test('a quota counts objects in an older version while the conversion webhook refuses', async () => {
  const { api, kind, namespace } = await withOldObjects()
  const path = `/api/v1/namespaces/${namespace}/resourcequotas`
  const hard = { [`count/widgets.${kind.group}`]: '2' }
  await created(api, path, { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } })
  const counted = await until(
    () => api.get(`${path}/q`),
    ({ body }) => 'used' in ((body['status'] ?? {}) as object),
  )
  expect(counted.body['status']).toMatchObject({ used: hard })
  const { status, body } = await api.post(kind.at('v2'), widget(kind, 'v2', 'more', {}))
  expect([status, body['message']]).toEqual([403, expect.stringContaining('exceeded quota: q')])
})

test('a namespace with objects in an older version is deleted when the conversion webhook works again, with the reason in a condition until then', async () => {
  const { api, kind, namespace } = await withOldObjects()
  const path = `/api/v1/namespaces/${namespace}`
  expect((await api.delete(path)).status).toBe(200)
  const { body } = await until(
    () => api.get(path),
    ({ body }) => JSON.stringify(body['status']).includes('not today'),
  )
  const { conditions } = body['status'] as { conditions: object[] }
  expect(conditions).toContainEqual(expect.objectContaining({ type: 'NamespaceDeletionContentFailure', status: 'True' }))
  kind.hook.reply = converting
  const gone = await until(
    () => api.get(path),
    ({ status }) => status === 404,
  )
  expect(gone.status).toBe(404)
})

test('DEL-12: the deletion of a custom object does not delete dependants with another living owner', async () => {
  const api = await anApi({ profile: 'kubernetes', controllers: ['*'] })
  const kind = await aConvertedKind(api)
  const configMaps = `/api/v1/namespaces/${kind.namespace}/configmaps`
  const configMap = (name: string, ownerReferences: object[]) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ownerReferences },
  })
  const referenceTo = ({ metadata: { name, uid } }: Body) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid })
  const owner = await created(api, configMaps, configMap('owner', []))
  const other = await created(api, configMaps, configMap('other', []))
  await created(api, configMaps, configMap('beside', [referenceTo(owner)]))
  const widgetOf = (name: string, of: Body) => ({ ...widget(kind, 'v1', name, {}), metadata: { name, ownerReferences: [referenceTo(of)] } })
  for (const [name, of] of [
    ['first', owner],
    ['second', owner],
    ['sign', other],
  ] as const)
    await created(api, kind.at('v1'), widgetOf(name, of))
  const goneAt = (path: string) =>
    until(
      () => api.get(path),
      ({ status }) => status === 404,
    )
  // When the collector has collected the last of the three objects, it knows all three.
  expect((await api.delete(`${configMaps}/other`)).status).toBe(200)
  await goneAt(`${kind.at('v1')}/sign`)
  expect((await api.delete(`${kind.at('v1')}/first`)).status).toBe(200)
  // The collector collects this object after it saw the deletion. That shows that it collected no other object.
  const last = await created(api, configMaps, configMap('last', []))
  await created(api, kind.at('v1'), widgetOf('later', last))
  expect((await api.delete(`${configMaps}/last`)).status).toBe(200)
  await goneAt(`${kind.at('v1')}/later`)
  expect((await api.get(kind.at('v1'))).body.items).toMatchObject([{ metadata: { name: 'second' } }])
  expect((await api.get(`${configMaps}/beside`)).status).toBe(200)
})

/** A group whose preferred version, v1, has one kind, while only v1alpha1 has the kind B. */
async function withUnpreferredKind() {
  const api = await anApi({ profile: 'kubernetes', controllers: ['*'] })
  const namespace = await aNamespace(api)
  const group = `${aName('g')}.example.com`
  for (const [plural, kind, version] of [
    ['as', 'A', 'v1'],
    ['bs', 'B', 'v1alpha1'],
  ]) {
    await created(api, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, kind },
        versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    })
  }
  const bs = `/apis/${group}/v1alpha1/namespaces/${namespace}/bs`
  const configMaps = `/api/v1/namespaces/${namespace}/configmaps`
  const ownedBy = ({ apiVersion, kind, metadata: { name, uid } }: Body) => ({ apiVersion, kind, name, uid, blockOwnerDeletion: true })
  const aB = (name: string, owners: readonly Body[] = []) =>
    created(api, bs, { apiVersion: `${group}/v1alpha1`, kind: 'B', metadata: { name, ownerReferences: owners.map(ownedBy) } })
  const aMap = (name: string, owners: readonly Body[] = []) =>
    created(api, configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ownerReferences: owners.map(ownedBy) } })
  const statusOf = async (path: string) => (await api.get(path)).status
  const goneAt = (path: string) =>
    until(
      () => api.get(path),
      ({ status }) => status === 404,
    )
  return { api, namespace, bs, configMaps, aB, aMap, statusOf, goneAt }
}

test('DEL-12: owners and dependants of a kind that the preferred version of its group lacks are collected', async () => {
  const { api, bs, configMaps, aB, aMap, goneAt } = await withUnpreferredKind()
  const owner = await aB('owner')
  await aB('dependant', [owner])
  await aMap('dependant', [owner])
  expect((await api.delete(`${bs}/owner`)).status).toBe(200)
  for (const path of [`${bs}/dependant`, `${configMaps}/dependant`]) expect((await goneAt(path)).status).toBe(404)
})

test('DEL-12: an owner under foreground deletion waits for dependants of a custom kind', async () => {
  const { api, bs, configMaps, aB, aMap, statusOf, goneAt } = await withUnpreferredKind()
  // When the collector has collected an object of the kind, it knows the kind.
  const first = await aMap('first')
  await aB('first', [first])
  expect((await api.delete(`${configMaps}/first`)).status).toBe(200)
  await goneAt(`${bs}/first`)
  const owner = await aMap('owner')
  const dependant = await aB('dependant', [owner])
  const path = `${bs}/dependant`
  const held = await api.patch(path, { metadata: { finalizers: ['example.com/held'] } })
  expect([held.status, dependant.kind]).toEqual([200, 'B'])
  expect((await api.delete(`${configMaps}/owner?propagationPolicy=Foreground`)).status).toBe(200)
  await until(
    () => api.get(path),
    ({ body }) => body.metadata.deletionTimestamp !== undefined,
  )
  expect(await statusOf(`${configMaps}/owner`)).toBe(200)
  expect((await api.patch(path, { metadata: { finalizers: null } })).status).toBe(200)
  for (const gone of [path, `${configMaps}/owner`]) expect((await goneAt(gone)).status).toBe(404)
})

test('a namespace is deleted after its objects of a custom kind, and a new namespace with its name is empty', async () => {
  const { api, namespace, bs, aB, goneAt } = await withUnpreferredKind()
  await aB('old')
  const path = `/api/v1/namespaces/${namespace}`
  expect((await api.delete(path)).status).toBe(200)
  await goneAt(path)
  await created(api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  expect((await api.get(bs)).body.items).toEqual([])
})

test('a garbage collector that starts while a conversion webhook does not answer collects objects of other kinds', async () => {
  const server = await start({ profile: 'kubernetes', controllers: ['*', '-garbage-collector'] })
  onTestFinished(() => server.stop())
  const { client } = server
  const hook = await aWebhookServer(() => new Promise(() => {}))
  const [group, plural] = ['hanging.example.com', 'widgets']
  const address = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions', namespaced: false }
  const definitions = client.resource(address)
  const definition = (versions: readonly object[]) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural, kind: 'Widget' }, versions, conversion: conversionBy(urlOf(hook)) },
  })
  await definitions.create(definition([versionOf('v1', 'v1'), versionOf('v2', 'v1')]))
  await client.objects.create({ apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'old', namespace: 'default' } })
  const { versions } = definition([versionOf('v1', 'v2'), versionOf('v2', 'v2')]).spec
  await definitions.patch(`${plural}.${group}`, { spec: { versions } }, { type: 'merge' })
  const ending = new AbortController()
  const context = {
    client,
    names: namesOf('kubernetes'),
    clock: systemClock,
    random: Math.random,
    log: silentLog,
    queues: someQueueMetrics(),
    signal: ending.signal,
  }
  const running = garbageCollector.run(context)
  onTestFinished(async () => {
    ending.abort()
    await running
  })
  const stray = { apiVersion: 'v1', kind: 'ConfigMap', name: 'stray', namespace: 'default' }
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'none' }]
  await client.objects.create(aConfigMap({ name: 'stray', ownerReferences }))
  await expect.poll(() => client.objects.get(stray).catch(({ code }: StatusError) => code)).toBe(404)
})
