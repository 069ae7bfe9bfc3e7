import type { CommitRequest } from '@orch/core/contracts'
import { type ApiObject, failed } from '@orch/core/meta'
import { decodeStored } from '@orch/core/stored'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import type { BootstrapWrite, GatewayOptions } from '../../services/gateway/src/index.ts'
import { aGateway, anAdmission, collection, configMap } from './own-gateway.ts'

const configMaps = { group: '', version: 'v1', plural: 'configmaps' }
const roles = { group: 'rbac.authorization.orch.io', version: 'v1', plural: 'clusterroles' }
const aConfigMap = (name: string, more: object = {}): ApiObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace: 'default', ...more },
  data: { x: '1' },
})

/** A gateway that writes bootstrap objects, its commits, and the objects after the writes. */
async function bootstrapObject(objects: readonly BootstrapWrite[], options: Partial<GatewayOptions> = {}) {
  const commits: CommitRequest[] = []
  const { call, writeBootstrapObjects } = await aGateway(
    (storage) => ({
      commit(request, context) {
        commits.push(request)
        return storage.commit(request, context)
      },
    }),
    options,
  )
  await writeBootstrapObjects(objects)
  const get = async (path: string) => (await call('GET', path)).body as unknown as ApiObject
  return { commits, get, call }
}

test('META-01, META-03, SSA-17: a bootstrap object is complete, new, and owned by the server or the named manager', async () => {
  const clock = createFakeClock(Date.UTC(2026, 4, 3, 2, 1, 0))
  const servers = { uid: 'theirs', creationTimestamp: '2001-01-01T00:00:00Z' }
  const { get, commits } = await bootstrapObject(
    [
      { resource: configMaps, object: aConfigMap('a', { ...servers, labels: { a: 'b' } }) },
      { resource: configMaps, object: aConfigMap('b'), fieldManager: 'starter' },
    ],
    { clock },
  )
  const own = await get(`${collection}/a`)
  expect(own).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: 'default', labels: { a: 'b' } } })
  expect(own.metadata).toMatchObject({ creationTimestamp: '2026-05-03T02:01:00Z', uid: expect.stringMatching(/^[\da-f]{8}-[\da-f-]{27}$/) })
  expect(Number(own.metadata.resourceVersion)).toBeLessThan(10)
  const entry = { operation: 'Update', apiVersion: 'v1', time: '2026-05-03T02:01:00Z', fieldsType: 'FieldsV1' }
  const data = { '.': {}, 'f:x': {} }
  expect(own.metadata.managedFields).toEqual([
    {
      manager: 'orch-apiserver',
      ...entry,
      fieldsV1: { 'f:data': data, 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } },
    },
  ])
  expect((await get(`${collection}/b`)).metadata.managedFields).toEqual([{ manager: 'starter', ...entry, fieldsV1: { 'f:data': data } }])
  const written = commits.map(({ key, expected, conditions, value, writeId }) => {
    const stored = decodeStored(value as Uint8Array)
    return { key, expected, conditions, isSameId: stored.writeId === writeId, expiresAtMs: stored.expiresAtMs }
  })
  const once = { expected: 0, conditions: [], isSameId: true, expiresAtMs: 0 }
  expect(written).toEqual([
    { key: 'core/configmaps/default/a', ...once },
    { key: 'core/configmaps/default/b', ...once },
  ])
  expect(new Set(commits.map(({ writeId }) => writeId)).size).toBe(2)
})

test('META-01: the status of a bootstrap object comes from the server, and derived members of its kind are set', async () => {
  const object = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'n' }, status: { phase: 'Terminating' } }
  const { get } = await bootstrapObject([{ resource: { group: '', version: 'v1', plural: 'namespaces' }, object }])
  expect(await get('/api/v1/namespaces/n')).toMatchObject({
    metadata: { labels: { 'orch.io/metadata.name': 'n' } },
    spec: { finalizers: ['orch'] },
    status: { phase: 'Active' },
  })
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const deployment: ApiObject = {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name: 'd', namespace: 'default' },
    spec: { selector: { matchLabels: { a: 'b' } }, template },
    status: { replicas: 7 },
  }
  const other = await bootstrapObject([{ resource: { group: 'apps', version: 'v1', plural: 'deployments' }, object: deployment }])
  expect((await other.get('/apis/apps/v1/namespaces/default/deployments/d'))['status']).toEqual({})
})

test('an existing object stays unchanged, and an unserved object is left out', async () => {
  const { call, writeBootstrapObjects } = await aGateway()
  const { body } = await call('POST', collection, configMap({ x: 'mine' }))
  await writeBootstrapObjects([
    { resource: configMaps, object: aConfigMap('a') },
    { resource: { ...configMaps, plural: 'nosuch' }, object: aConfigMap('b') },
    { resource: configMaps, object: aConfigMap('c') },
  ])
  expect((await call('GET', `${collection}/a`)).body).toEqual(body)
  expect(await Promise.all(['b', 'c'].map(async (name) => (await call('GET', `${collection}/${name}`)).code))).toEqual([404, 200])
})

test('writing a bootstrap object does not change the input, and calls no admission', async () => {
  const object = aConfigMap('a', { uid: 'theirs' })
  const admission = anAdmission([{ phase: '*', operations: ['*'], groups: ['*'], resources: ['*'], namespaces: [] }])
  await bootstrapObject([{ resource: configMaps, object }], { admission })
  expect(object).toEqual(aConfigMap('a', { uid: 'theirs' }))
  expect(admission.asked).toEqual([])
})

test('SSA-17: fields with a separate manager are applied by that manager, and all others by the server', async () => {
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
  const object: ApiObject = {
    kind: 'ClusterRole',
    apiVersion: 'rbac.authorization.orch.io/v1',
    metadata: { name: 'r', labels: { a: 'b' } },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: 'r' } }] },
    rules,
  }
  const { get } = await bootstrapObject([{ resource: roles, object, applied: { fieldManager: 'gatherer', fields: ['rules'] } }])
  const found = await get('/apis/rbac.authorization.orch.io/v1/clusterroles/r')
  expect(found['rules']).toEqual(rules)
  const owners = (found.metadata.managedFields ?? []).map(({ manager, operation, fieldsV1 }) => ({
    manager,
    operation,
    fields: Object.keys(fieldsV1 ?? {}).sort(),
  }))
  expect(owners).toEqual([
    { manager: 'gatherer', operation: 'Apply', fields: ['f:rules'] },
    { manager: 'orch-apiserver', operation: 'Update', fields: ['f:aggregationRule', 'f:metadata'] },
  ])
})

test('an existing bootstrap object stays unchanged, and a refused bootstrap object is an error', async () => {
  const { get } = await bootstrapObject([
    { resource: configMaps, object: aConfigMap('a', { labels: { first: 'yes' } }) },
    { resource: configMaps, object: aConfigMap('a', { labels: { first: 'no' } }) },
  ])
  expect((await get(`${collection}/a`)).metadata.labels).toHaveProperty('first')
  const { writeBootstrapObjects } = await aGateway(() => ({ commit: () => Promise.reject(failed(500, '', 'on purpose')) }))
  await expect(writeBootstrapObjects([{ resource: configMaps, object: aConfigMap('b') }])).rejects.toMatchObject({ code: 500 })
})
