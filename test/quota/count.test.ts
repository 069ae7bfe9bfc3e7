import { randomUUID } from 'node:crypto'
import { createCatalogue } from '@orch/core/catalogue'
import { objectKey, type StorageService } from '@orch/core/contracts'
import { printAmounts } from '@orch/core/quota'
import { encodeObject, encodeStored, schemaFingerprint } from '@orch/core/stored'
import { expect, onTestFinished, test } from 'vitest'
import { countUse } from '../../services/admission/src/quota/count.ts'
import type { QuotaObject } from '../../services/admission/src/quota/quota-object.ts'
import { createMemoryStore, createStorage } from '../../services/storage/src/index.ts'

const catalogue = createCatalogue('orch')
type ListRequest = Parameters<StorageService['list']>[0]

const aQuota = (hard: Record<string, string>, more: Partial<QuotaObject> = {}): QuotaObject => ({
  ...{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace: 'team', uid: 'uid-q' } },
  ...{ spec: { hard }, ...more },
})
const limited = (...names: string[]) => Object.fromEntries(names.map((name) => [name, '5']))
const aPod = (resources: object) => ({ spec: { containers: [{ name: 'c', resources }] } })

/** A storage, the requested lists, and a hook after an answer. */
async function aStorage() {
  const store = createMemoryStore()
  const real = await createStorage({ store })
  onTestFinished(async () => {
    real.close()
    await store.close()
  })
  const lists: ListRequest[] = []
  let afterList = async (): Promise<unknown> => undefined
  const storage = new Proxy<StorageService>(real, {
    get: (target, name) => {
      if (name !== 'list') return Reflect.get(target, name, target) as unknown
      return async function* (request: ListRequest) {
        lists.push(request)
        yield* target.list(request)
        await afterList()
      }
    },
  })
  return {
    lists,
    /** Writes the object; returns its revision. */
    async put(resource: string, name: string, object: object = {}, { namespace = 'team', uid }: { namespace?: string; uid?: string } = {}) {
      const encoded = encodeObject({ ...object, metadata: { name, namespace, ...(uid === undefined ? {} : { uid }) } })
      const writeId = randomUUID()
      const value = encodeStored({ fingerprint: schemaFingerprint, writeId, expiresAtMs: 0, encoded, labels: {}, fields: {} })
      await real.commit({ key: objectKey(resource, namespace, name), expected: 0, conditions: [], value, writeId })
      return (await real.status({})).revision
    },
    onceListed(then: () => Promise<unknown>) {
      afterList = async () => {
        afterList = async () => undefined
        await then()
      }
    },
    async count(quota: QuotaObject, keys: string[] = []) {
      const { amounts, objects, ...rest } = await countUse(quota, new Set(keys), { storage, catalogue, nowMs: 1_000 })
      return { ...rest, amounts: printAmounts(amounts), objects: Object.fromEntries(objects) }
    },
  }
}

test('the use by objects of the namespace is counted, by number and by quantities', async () => {
  const { put, count } = await aStorage()
  await put('core/pods', 'one', aPod({ requests: { cpu: '100m' } }))
  await put('core/pods', 'two', aPod({ requests: { cpu: '200m' } }))
  await put('core/pods', 'elsewhere', aPod({ requests: { cpu: '1' } }), { namespace: 'other' })
  await put('core/services', 's', { spec: { type: 'NodePort', ports: [{ port: 1 }, { port: 2 }] } })
  const revision = await put('core/secrets', 't')
  expect(await count(aQuota(limited('pods', 'requests.cpu', 'services.nodeports', 'secrets', 'configmaps')))).toEqual({
    ...{ revision, startedMs: 1_000, objects: {} },
    amounts: { configmaps: '0', pods: '2', 'requests.cpu': '300m', secrets: '1', 'services.nodeports': '2' },
  })
})

test('all collections are counted at the revision of the first', async () => {
  const { put, count, lists, onceListed } = await aStorage()
  await put('core/pods', 'p', aPod({}))
  const revision = await put('core/secrets', 'early')
  onceListed(() => put('core/secrets', 'late'))
  expect(await count(aQuota(limited('pods', 'secrets')))).toMatchObject({ revision, amounts: { pods: '1', secrets: '1' } })
  expect(lists).toMatchObject([
    { scope: { resource: 'core/pods', namespace: 'team' }, read: { kind: 'latest' } },
    { scope: { resource: 'core/secrets', namespace: 'team' }, read: { kind: 'exact', revision, asked: String(revision) } },
  ])
})

test('a collection is listed once, for any number of limits on it', async () => {
  const { put, count, lists } = await aStorage()
  await put('core/pods', 'p', aPod({}))
  const { amounts } = await count(aQuota(limited('pods', 'count/pods', 'requests.cpu')))
  expect(amounts).toEqual({ 'count/pods': '1', pods: '1', 'requests.cpu': '0' })
  expect(lists).toHaveLength(1)
})

test('the uid and the revision of requested objects are reported, and of no others', async () => {
  const { put, count } = await aStorage()
  const first = await put('core/pods', 'p', aPod({}), { uid: 'uid-p' })
  await put('core/pods', 'unasked', aPod({}), { uid: 'uid-unasked' })
  const last = await put('core/secrets', 'without')
  const { objects } = await count(aQuota(limited('pods', 'secrets')), [
    'core/pods/team/p',
    'core/secrets/team/without',
    'core/pods/team/gone',
  ])
  expect(objects).toEqual({
    'core/pods/team/p': { uid: 'uid-p', revision: first },
    'core/secrets/team/without': { uid: '', revision: last },
  })
})

test('a resource that only the status limits is counted, even if the quota has no spec', async () => {
  const { put, count } = await aStorage()
  await put('core/pods', 'p', aPod({}))
  await put('core/secrets', 's')
  const status = { hard: limited('secrets') }
  expect((await count(aQuota(limited('pods'), { status }))).amounts).toEqual({ pods: '1', secrets: '1' })
  const { spec: _, ...withoutSpec } = aQuota({}, { status })
  expect((await count(withoutSpec)).amounts).toEqual({ secrets: '1' })
})

test('only the objects in the scopes of a quota are counted', async () => {
  const { put, count } = await aStorage()
  await put('core/pods', 'best-effort', aPod({}))
  await put('core/pods', 'burstable', aPod({ requests: { cpu: '1' } }))
  const scoped = (scope: string) => aQuota({}, { spec: { hard: limited('pods'), scopes: [scope] } })
  expect((await count(scoped('BestEffort'))).amounts).toEqual({ pods: '1' })
  expect((await count(scoped('Terminating'))).amounts).toEqual({ pods: '0' })
})

test('a quota without countable limits is counted at the latest revision, without a list', async () => {
  const { put, count, lists } = await aStorage()
  const revision = await put('core/secrets', 's')
  expect(await count(aQuota(limited('example.com/nothing')))).toMatchObject({ revision, amounts: {} })
  expect(lists).toEqual([])
})

test('resources of built-in groups and custom resources are counted by their names', async () => {
  const { put, count, lists } = await aStorage()
  await put('apps/deployments', 'd')
  await put('example.com/widgets', 'w')
  const { amounts } = await count(aQuota(limited('count/deployments.apps', 'count/widgets.example.com', 'nonsense')))
  expect(amounts).toEqual({ 'count/deployments.apps': '1', 'count/widgets.example.com': '1' })
  expect(lists.map(({ scope }) => scope.resource)).toEqual(['apps/deployments', 'example.com/widgets'])
})

const groupWithDot = catalogue.resources.find(({ group }) => group.includes('.'))?.group

test.each([
  'count/nodes',
  'count/widgets',
  'count/widgets.apps',
  'count/pods.apps',
  'count/widgets.nodot',
  `count/widgets.${groupWithDot}`,
])('%s is cluster-scoped or absent: nothing is listed, and the use is 0', async (name) => {
  const { put, count, lists } = await aStorage()
  const revision = await put('core/pods', 'p', aPod({}))
  expect(await count(aQuota(limited(name)))).toMatchObject({ revision, amounts: { [name]: '0' } })
  expect(lists).toEqual([])
})
