import { printContinueToken } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { describe, expect, test } from 'vitest'
import { aNamespace, configMap, configMapsIn, created, sharedApi } from '../api/api.ts'
import { aPerson, give, onceAllowed, rbac } from '../authorization/people.ts'

const server = sharedApi()
const everyVerb = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']
const merge = { 'content-type': 'application/merge-patch+json' }

describe('rights to one object by name', () => {
  test('AUTHZ-03: include no other object, in any form of the request', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    const secrets = `/api/v1/namespaces/${namespace}/secrets`
    for (const name of ['mine', 'theirs']) await created(api, secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name } })
    await give(api, person, [{ verbs: everyVerb, apiGroups: [''], resources: ['secrets'], resourceNames: ['mine'] }], namespace)
    expect((await onceAllowed(() => person.get(`${secrets}/mine`))).status).toBe(200)
    const own = await person.get(`${secrets}?fieldSelector=metadata.name=mine`)
    expect(own.body.items.map(({ metadata }) => metadata.name)).toEqual(['mine'])
    const refused = [
      secrets,
      `${secrets}/theirs`,
      `${secrets}?fieldSelector=metadata.name=theirs`,
      `${secrets}?fieldSelector=metadata.name!=mine`,
      `${secrets}?fieldSelector=&fieldSelector=metadata.name=mine`,
      `${secrets}?fieldSelector=metadata.name=theirs&fieldSelector=metadata.name=mine`,
      `${secrets}?watch=1&fieldSelector=metadata.name=theirs`,
      `/api/v1/watch/namespaces/${namespace}/secrets/theirs`,
      `/api/v1/secrets?fieldSelector=metadata.name=mine`,
      `/api/v1/secrets?fieldSelector=metadata.name=mine,metadata.namespace=${namespace}`,
    ]
    const answers = await Promise.all(refused.map(async (target) => [target, (await person.get(target)).status]))
    expect(answers).toEqual(refused.map((target) => [target, 403]))
    const both = await person.get(`${secrets}?fieldSelector=metadata.name=mine,metadata.name=theirs`)
    expect([both.status, both.body.items]).toEqual([200, []])
    // A resource name limits neither a create nor a request for all objects.
    expect((await person.send('DELETE', `${secrets}?fieldSelector=metadata.name=mine`)).status).toBe(403)
    expect((await person.post(secrets, { metadata: { name: 'mine' } })).status).toBe(403)
    expect((await person.send('PUT', `${secrets}/theirs`, { body: { metadata: { name: 'theirs' } } })).status).toBe(403)
    for (const metadata of [{ name: 'theirs' }, { namespace: 'default' }, { uid: 'other' }]) {
      const code = 'uid' in metadata ? 422 : 400
      expect((await person.send('PATCH', `${secrets}/mine`, { body: { metadata }, headers: merge })).status).toBe(code)
    }
    expect((await person.send('PUT', `${secrets}/mine`, { body: { metadata: { name: 'theirs' } } })).status).toBe(400)
  })

  test('AUTHN-SA-10, AUTHZ-03: allow tokens only for the named accounts', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
    for (const name of ['mine', 'theirs']) await created(api, accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } })
    const rule = { verbs: ['create'], apiGroups: [''], resources: ['serviceaccounts/token'], resourceNames: ['mine'] }
    await give(api, person, [rule], namespace)
    const ask = (name: string, body: object = {}) => person.post(`${accounts}/${name}/token`, body)
    expect((await onceAllowed(() => ask('mine'))).status).toBe(201)
    expect((await ask('theirs')).status).toBe(403)
    expect((await ask('mine', { metadata: { name: 'theirs' } })).status).toBe(422)
    expect((await ask('mine', { metadata: { namespace: 'default' } })).status).toBe(400)
    expect((await person.post('/api/v1/namespaces/default/serviceaccounts/mine/token', {})).status).toBe(403)
  })
})

describe('continue tokens', () => {
  test('CHUNK-05, AUTHZ-03: that are forged give no access beyond the rights of the request', async () => {
    const { api } = server
    const [namespace, other, person] = [await aNamespace(api), await aNamespace(api), aPerson(api)]
    await created(api, configMapsIn(namespace), configMap({ name: 'a' }))
    await created(api, configMapsIn(other), configMap({ name: 'secret' }))
    await give(api, person, [{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }], namespace)
    expect((await onceAllowed(() => person.get(configMapsIn(namespace)))).status).toBe(200)
    const real = (await api.get(`/api/v1/configmaps?limit=1`)).body.metadata.continue
    const { rv: revision, e: epoch } = JSON.parse(Buffer.from(real, 'base64').toString()) as { rv: number; e: string }
    const starts = [`${other}/`, `${other}/secret`, `../${other}/`, '../', '/', 'a/../../', `core/configmaps/${other}/`, '', '\0', '\uffff']
    for (const start of starts) {
      const token = encodeURIComponent(printContinueToken(namesOf('orch'), { revision, epoch, start }))
      const { status, body } = await person.get(`${configMapsIn(namespace)}?limit=500&continue=${token}`)
      expect([200, 400]).toContain(status)
      expect((body.items ?? []).filter(({ metadata }) => metadata.namespace !== namespace)).toEqual([])
    }
    // A client that holds another user's token may still only ask about its own user.
    expect((await person.get(`/api/v1/configmaps?limit=1&continue=${encodeURIComponent(real)}`)).status).toBe(403)
  })
})

describe('rights to a subresource', () => {
  test('AUTHZ-03: change only that part of the object', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } }
    const pods = `/api/v1/namespaces/${namespace}/pods`
    const path = `${pods}/p`
    const made = await created(api, pods, pod)
    await give(
      api,
      person,
      [{ verbs: ['*'], apiGroups: [''], resources: ['pods/status', 'pods/ephemeralcontainers', 'pods/binding'] }],
      namespace,
    )
    const metadata = { ...made.metadata, labels: { own: 'no' }, finalizers: ['example.com/hold'] }
    const owners = [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: made.metadata.uid }]
    const spec = { ...(made['spec'] as object), containers: [{ name: 'c', image: 'other' }] }
    const body = { ...made, metadata: { ...metadata, ownerReferences: owners }, spec, status: { phase: 'Running' } }
    expect((await onceAllowed(() => person.send('PUT', `${path}/status`, { body }))).status).toBe(200)
    const patch = { metadata: { labels: { own: 'no' }, finalizers: ['example.com/hold'] }, spec, status: { message: 'm' } }
    expect((await person.send('PATCH', `${path}/status`, { body: patch, headers: merge })).status).toBe(200)
    const applied = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { own: 'no' } }, spec, status: { reason: 'r' } }
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    expect((await person.send('PATCH', `${path}/status?fieldManager=m&force=true`, { body: applied, headers })).status).toBe(200)
    const live = (await api.get(path)).body
    const ephemeralContainers = [{ name: 'e', image: 'x' }]
    const entered = { ...live, metadata: { ...live.metadata, labels: { own: 'other' } }, spec: { ...spec, ephemeralContainers } }
    expect((await person.send('PUT', `${path}/ephemeralcontainers`, { body: entered })).status).toBe(200)
    const after = (await api.get(path)).body
    const { labels, finalizers, ownerReferences } = after.metadata
    // A status write may change labels and finalizers but not owners. A write of ephemeral containers changes no metadata.
    expect({ labels, finalizers, ownerReferences }).toEqual({
      labels: { own: 'no' },
      finalizers: ['example.com/hold'],
      ownerReferences: undefined,
    })
    expect(after).toMatchObject({
      spec: { containers: [{ image: 'i' }], ephemeralContainers: [{ name: 'e' }] },
      status: { phase: 'Running', message: 'm', reason: 'r' },
    })
    // The user still cannot access the object itself and its other subresources.
    for (const method of ['GET', 'PUT', 'DELETE']) expect((await person.send(method, path, { body: live })).status).toBe(403)
    const elsewhere = { metadata: { name: 'q' }, target: { name: 'n' } }
    expect((await person.post(`${path}/binding`, elsewhere)).status).toBe(400)
    expect((await person.post(`/api/v1/namespaces/${namespace}/bindings`, elsewhere)).status).toBe(403)
  })
})

describe('revoked rights', () => {
  test('AUTHZ-03, WATCH-01: do not end an open watch, and allow no new one', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    const name = await give(api, person, [{ verbs: ['list', 'watch'], apiGroups: [''], resources: ['configmaps'] }], namespace)
    const target = `${configMapsIn(namespace)}?watch=1&fieldSelector=metadata.name=later`
    await onceAllowed(() => person.get(configMapsIn(namespace)))
    const watch = await api.watch(target, { 'impersonate-user': person.name, 'impersonate-group': 'system:authenticated' })
    expect((await api.delete(`${rbac}/namespaces/${namespace}/rolebindings/${name}`)).status).toBe(200)
    await expect.poll(async () => (await person.get(configMapsIn(namespace))).status).toBe(403)
    await created(api, configMapsIn(namespace), configMap({ name: 'later' }))
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'later' } } })
    expect((await person.get(target)).status).toBe(403)
  })
})
