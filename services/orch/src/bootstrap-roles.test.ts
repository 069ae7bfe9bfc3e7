import { bootstrapRoles } from '@orch/controllers'
import type { ApiObject } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { expect, onTestFinished, test } from 'vitest'
import { start } from './start/start.ts'

const names = namesOf('orch')
const served = { names, level: 25 }
const group = 'rbac.authorization.orch.io'
const address = (plural: string, namespaced = false) => ({ group, version: 'v1', plural, namespaced })

async function aClient() {
  const server = await start({ controllers: [] })
  onTestFinished(() => server.stop())
  return server.client
}

test('AUTHZ-08: a start adds missing rules of bootstrap roles and bindings, and keeps additional rules', async () => {
  const client = await aClient()
  const [roles, bindings] = [client.resource(address('clusterroles')), client.resource(address('clusterrolebindings'))]
  const extra = { verbs: ['get'], apiGroups: ['example.com'], resources: ['widgets'] }
  const guest = { kind: 'User', apiGroup: group, name: 'guest' }
  await roles.patch('system:basic-user', { rules: [extra], metadata: { labels: { mine: 'yes' } } }, { type: 'merge' })
  await bindings.patch('system:discovery', { subjects: [guest] }, { type: 'merge' })
  await roles.delete('system:monitoring')
  await bootstrapRoles(client, served)
  expect(await roles.get('system:basic-user')).toMatchObject({
    metadata: { labels: { mine: 'yes', 'orch.io/bootstrapping': 'rbac-defaults' } },
    rules: [
      extra,
      { verbs: ['create'], resources: ['selfsubjectaccessreviews'] },
      { verbs: ['create'], resources: ['selfsubjectrulesreviews'] },
    ],
  })
  expect(await bindings.get('system:discovery')).toMatchObject({ subjects: [guest, { kind: 'Group', name: 'system:authenticated' }] })
  expect(await roles.get('system:monitoring')).toMatchObject({ rules: [{ verbs: ['get'] }] })
})

test('AUTHZ-08: a marked role stays unchanged, and a binding of another role is replaced', async () => {
  const client = await aClient()
  const [roles, bindings] = [client.resource(address('clusterroles')), client.resource(address('clusterrolebindings'))]
  const annotations = { [`${group}/autoupdate`]: 'false' }
  await roles.patch('system:basic-user', { rules: [], metadata: { annotations } }, { type: 'merge' })
  const binding = await bindings.get('system:basic-user')
  await bindings.delete('system:basic-user')
  const { resourceVersion: _version, uid: _uid, ...metadata } = binding.metadata
  const changed: ApiObject = { ...binding, metadata, roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'view' } }
  await bindings.create(changed)
  await bootstrapRoles(client, served)
  expect(await roles.get('system:basic-user')).toMatchObject({ rules: null })
  expect(await bindings.get('system:basic-user')).toMatchObject({ roleRef: { name: 'system:basic-user' } })
})

test('AUTHZ-08: several servers may add rules at once, and a second start changes nothing', async () => {
  const client = await aClient()
  const roles = client.resource(address('clusterroles'))
  await Promise.all([roles.delete('view'), roles.delete('system:discovery')])
  await Promise.all([bootstrapRoles(client, served), bootstrapRoles(client, served), bootstrapRoles(client, served)])
  const before = await roles.list()
  expect(before.items.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(['view', 'system:discovery']))
  await bootstrapRoles(client, served)
  const versionsOf = ({ items }: typeof before) => items.map(({ metadata }) => metadata.resourceVersion)
  expect(versionsOf(await roles.list())).toEqual(versionsOf(before))
})
