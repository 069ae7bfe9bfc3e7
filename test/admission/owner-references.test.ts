import { expect, test } from 'vitest'
import { type Api, aName, aNamespace, configMap, configMapsIn, created, sharedApi } from '../api/api.ts'
import { aPerson, give, onceAllowed, type Person, type Rule } from '../authorization/people.ts'

const server = sharedApi({ flags: ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement'], controllers: ['-*'] })

const may = (...verbs: string[]): Rule => ({ verbs, apiGroups: [''], resources: ['configmaps'] })
const finalizers: Rule = { verbs: ['update'], apiGroups: [''], resources: ['secrets/finalizers'] }

interface Scene {
  readonly api: Api
  readonly path: string
  readonly person: Person
  readonly namespace: string
  readonly owner: Record<string, unknown>
}

/** A Secret that may become an owner, and a user who has a few rights in its namespace. */
async function aScene(...rules: [Rule, ...Rule[]]): Promise<Scene> {
  const { api } = server
  const namespace = await aNamespace(api)
  const secret = await created(api, `/api/v1/namespaces/${namespace}/secrets`, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'owner' },
  })
  const person = aPerson(api)
  await give(api, person, rules, namespace)
  const path = configMapsIn(namespace)
  await onceAllowed(() => person.post(path, configMap({ name: aName() })))
  return { api, path, person, namespace, owner: { apiVersion: 'v1', kind: 'Secret', name: 'owner', uid: secret.metadata.uid } }
}

const cannotDelete = `cannot set an ownerRef on a resource you can't delete`
const cannotBlock = `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on`

const merge = (person: Person, target: string, body: object) =>
  person.send('PATCH', target, { headers: { 'content-type': 'application/merge-patch+json' }, body })

test('a user with the right to delete an object may give it an owner', async () => {
  const { path, person, owner } = await aScene(may('create', 'patch', 'delete'))
  await person.post(path, configMap({ name: 'a' }))
  expect((await merge(person, `${path}/a`, { metadata: { ownerReferences: [owner] } })).status).toBe(200)
})

test('a user with the right to create an object may create it with an owner', async () => {
  const { path, person, owner } = await aScene(may('create'))
  expect((await person.post(path, configMap({ name: 'a', ownerReferences: [owner] }))).status).toBe(201)
})

test('a user without the right to delete an object may not give it an owner, and all other writes pass', async () => {
  const { path, person, owner } = await aScene(may('create', 'patch'))
  expect((await person.post(path, configMap({ name: 'a' }))).status).toBe(201)
  expect((await merge(person, `${path}/a`, { metadata: { labels: { x: 'y' } } })).status).toBe(200)
  const owned = await merge(person, `${path}/a`, { metadata: { ownerReferences: [owner] } })
  expect([owned.status, owned.body['message']]).toEqual([403, expect.stringContaining(`configmaps "a" is forbidden: ${cannotDelete}`)])
})

test('a user with the right to write all finalizers may block the deletion of an owner of any kind', async () => {
  const { api, path, person } = await aScene(may('create'))
  await give(api, person, [{ verbs: ['update'], apiGroups: ['*'], resources: ['*/finalizers'] }])
  const owner = { apiVersion: 'example.com/v1', kind: 'Thing', name: 't', uid: 'u', blockOwnerDeletion: true }
  const post = () => person.post(path, configMap({ name: 'a', ownerReferences: [owner] }))
  expect((await onceAllowed(post)).status).toBe(201)
})

test('a user that blocks the deletion of an owner needs the right to write its finalizers', async () => {
  const { api, path, person, namespace, owner } = await aScene(may('create', 'delete'))
  const blocking = { ...owner, blockOwnerDeletion: true }
  const answer = await person.post(path, configMap({ name: 'a', ownerReferences: [blocking] }))
  expect(answer.status).toBe(403)
  expect(answer.body['message']).toContain(`configmaps "a" is forbidden: ${cannotBlock}`)
  await give(api, person, [finalizers], namespace)
  const post = () => person.post(path, configMap({ name: 'a', ownerReferences: [blocking] }))
  expect((await onceAllowed(post)).status).toBe(201)
})

test('an owner that was already blocked needs no further right', async () => {
  const { api, path, person, owner } = await aScene(may('create', 'delete', 'patch'))
  const blocking = { ...owner, blockOwnerDeletion: true }
  await created(api, path, configMap({ name: 'a', ownerReferences: [blocking] }))
  const more = { apiVersion: 'v1', kind: 'Secret', name: 'more', uid: 'u' }
  const answer = await person.send('PATCH', `${path}/a`, {
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { metadata: { ownerReferences: [blocking, more] } },
  })
  expect(answer.status).toBe(200)
})

test('a blocking reference to an owner of an unserved kind is refused', async () => {
  const { path, person } = await aScene(may('create', 'delete'))
  const owner = { apiVersion: 'example.com/v1', kind: 'Thing', name: 't', uid: 'u', blockOwnerDeletion: true }
  const answer = await person.post(path, configMap({ name: 'a', ownerReferences: [owner] }))
  expect(answer.status).toBe(403)
  expect(answer.body['message']).toContain(
    'cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion example.com/v1 Kind Thing',
  )
})
