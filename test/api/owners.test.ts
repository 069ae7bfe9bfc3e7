import { expect, test } from 'vitest'
import { aName, aNamespace, configMap, configMapsIn, sharedApi } from './api.ts'

const server = sharedApi()

test('META-19: every kind of write is recorded in managedFields', async () => {
  const path = configMapsIn(await aNamespace(server.api))
  const item = `${path}/a`
  const managers = async () => {
    const { body } = await server.api.get(item)
    const entries = (body['metadata'] as { managedFields?: { manager: string; operation: string }[] }).managedFields ?? []
    return entries.map(({ manager, operation }) => `${manager} ${operation}`).sort()
  }
  await server.api.post(`${path}?fieldManager=maker`, configMap({ name: 'a', data: { a: '1' } }))
  expect(await managers()).toEqual(['maker Update'])
  await server.api.put(`${item}?fieldManager=keeper`, configMap({ name: 'a', data: { a: '1', b: '1' } }))
  expect(await managers()).toEqual(['keeper Update', 'maker Update'])
  await server.api.patch(`${item}?fieldManager=mender`, { data: { c: '1' } })
  expect(await managers()).toEqual(['keeper Update', 'maker Update', 'mender Update'])
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { d: '1' } }
  const headers = { 'content-type': 'application/apply-patch+yaml' }
  await server.api.send('PATCH', `${item}?fieldManager=applier`, { headers, body: applied })
  expect(await managers()).toEqual(['applier Apply', 'keeper Update', 'maker Update', 'mender Update'])
})

test('a write of an Event through the other group drops the managers of the first', async () => {
  const namespace = await aNamespace(server.api)
  const event = { involvedObject: { kind: 'Pod', namespace, name: 'p' }, reason: 'R', metadata: { name: 'e' } }
  await server.api.post(`/api/v1/namespaces/${namespace}/events?fieldManager=maker`, { apiVersion: 'v1', kind: 'Event', ...event })
  const { body } = await server.api.patch(`/apis/events.orch.io/v1/namespaces/${namespace}/events/e?fieldManager=mender`, {
    metadata: { labels: { a: 'b' } },
  })
  expect(body['metadata']).toMatchObject({ managedFields: [{ manager: 'mender', apiVersion: 'events.orch.io/v1' }] })
})

test('DRY-13: admission runs in a dry run too, and refuses an absent namespace', async () => {
  const { status, body } = await server.api.post(`${configMapsIn(aName('absent'))}?dryRun=All`, configMap({ name: 'a' }))
  expect({ status, reason: body['reason'] }).toEqual({ status: 404, reason: 'NotFound' })
})

test.each([
  ['an empty list', []],
  ['one empty entry', [{}]],
])('SSA-59: %s of managedFields removes all owners, and null changes nothing', async (_, managedFields) => {
  const { api } = server
  const path = `/api/v1/namespaces/${await aNamespace(api)}/configmaps`
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: '1' } }
  const headers = { 'content-type': 'application/apply-patch+yaml' }
  expect((await api.send('PATCH', `${path}/a?fieldManager=m`, { body: applied, headers })).status).toBe(201)
  const kept = await api.patch(`${path}/a`, { metadata: { managedFields: null } })
  expect(kept.body.metadata['managedFields']).toMatchObject([{ manager: 'm', operation: 'Apply' }])
  expect((await api.patch(`${path}/a`, { metadata: { managedFields } })).body.metadata).not.toHaveProperty('managedFields')
  const put = await api.put(`${path}/a`, { ...applied, data: { x: '2' }, metadata: { name: 'a', managedFields } })
  expect(put.body.metadata['managedFields']).toMatchObject([{ operation: 'Update', fieldsV1: { 'f:data': {} } }])
})
