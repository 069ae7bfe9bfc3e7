import { describe, expect, test } from 'vitest'
import { aName, aNamespace, anApi, configMap, configMapsIn, created, failure, namesOfItems, sharedApi, someConfigMaps } from './api.ts'

const server = sharedApi({ version: '1.25' })

const node = (name: string, spec: Record<string, unknown> = {}) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec })

const csiNode = (name: string) => ({ apiVersion: 'storage.orch.io/v1', kind: 'CSINode', metadata: { name }, spec: { drivers: [] } })

describe('metadata', () => {
  test('META-01, META-03, META-10, META-11: of a new object is complete', async () => {
    const before = Date.now()
    const path = await someConfigMaps(server.api)
    const labels = { 'example.com/app': 'web' }
    const annotations = { note: 'Grüße, 世界 🎉' }
    const made = await created(server.api, path, configMap({ name: 'a', labels, annotations, data: { x: '1' } }))
    expect(made).toMatchObject({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        name: 'a',
        namespace: path.split('/')[4],
        uid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        resourceVersion: expect.stringMatching(/^[1-9]\d*$/),
        creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        labels,
        annotations,
      },
      data: { x: '1' },
    })
    const age = Date.parse(made.metadata.creationTimestamp) - before
    expect(Math.abs(age)).toBeLessThan(60_000)
    expect((await server.api.get(`${path}/a`)).body).toEqual(made)
    expect(namesOfItems((await server.api.get(path)).body)).toEqual(['a'])
  })

  test('META-02, META-10: of a cluster-scoped object in a named group is complete', async () => {
    const made = await created(server.api, '/apis/storage.orch.io/v1/csinodes', csiNode(aName()))
    expect(made.apiVersion).toBe('storage.orch.io/v1')
    expect(made.metadata).not.toHaveProperty('namespace')
  })

  test('META-11, META-15, META-16: set by the server is not taken from the writer', async () => {
    const path = await someConfigMaps(server.api)
    const given = {
      name: 'a',
      uid: 'mine',
      creationTimestamp: '2001-01-01T00:00:00Z',
      deletionTimestamp: '2001-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 7,
      selfLink: '/mine',
    }
    const { metadata } = await created(server.api, path, configMap(given))
    expect(metadata.uid).not.toBe('mine')
    expect(metadata.creationTimestamp).not.toBe('2001-01-01T00:00:00Z')
    for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink']) expect(metadata).not.toHaveProperty(field)
  })

  test('META-12: has a new version with every change, and otherwise the same version', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { body: first } = await server.api.get(`${path}/a`)
    const { body: second } = await server.api.patch(`${path}/a`, { data: { x: '1' } })
    const { body: third } = await server.api.patch(`${path}/a`, { data: { x: '1' } })
    expect(second.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion)
    expect(third).toEqual(second)
    expect((await server.api.put(`${path}/a`, third)).body).toEqual(third)
    expect((await server.api.get(`${path}/a`)).body).toEqual(second)
  })

  test('META-04, META-22: has a unique name', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { status, body } = await server.api.post(path, configMap({ name: 'a', data: { x: '2' } }))
    expect(status).toBe(409)
    expect(body).toEqual(failure(409, 'AlreadyExists', 'configmaps "a" already exists', { name: 'a', kind: 'configmaps' }))
    expect((await server.api.get(path)).body.items).toHaveLength(1)
    expect((await server.api.get(`${path}/a`)).body).not.toHaveProperty('data')
  })

  test('META-04: has a name that only one of many parallel creates gets', async () => {
    const path = await someConfigMaps(server.api)
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.api.post(path, configMap({ name: 'a' }))))
    const codes = answers.map(({ status }) => status).sort()
    expect(codes).toEqual([201, ...Array.from({ length: 19 }, () => 409)])
  })

  test('META-05, META-06: may have a name used by other kinds and in other namespaces', async () => {
    const [first, second] = [await aNamespace(server.api), await aNamespace(server.api)]
    for (const namespace of [first, second]) {
      await created(server.api, configMapsIn(namespace), configMap({ name: 'a' }))
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }
      expect((await server.api.post(`/api/v1/namespaces/${namespace}/secrets`, secret)).status).toBe(201)
    }
    expect(namesOfItems((await server.api.get(configMapsIn(first))).body)).toEqual(['a'])
  })

  test('META-07, META-11: may reuse the name of a deleted object, with a new uid', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { body: first } = await server.api.get(`${path}/a`)
    await server.api.delete(`${path}/a`)
    const second = await created(server.api, path, configMap({ name: 'a' }))
    expect(second.metadata.uid).not.toBe(first.metadata.uid)
    expect(Number(second.metadata.resourceVersion)).toBeGreaterThan(Number(first.metadata.resourceVersion))
  })

  test('META-08: of nodes has a name that is unique in the cluster', async () => {
    const name = aName('node')
    await created(server.api, '/api/v1/nodes', node(name))
    expect((await server.api.post('/api/v1/nodes', node(name))).status).toBe(409)
  })

  test('META-09: gets a unique name by generateName', async () => {
    const path = await someConfigMaps(server.api)
    const names = new Set<string>()
    for (let at = 0; at < 10; at++) {
      const { metadata } = await created(server.api, path, configMap({ generateName: 'job-' }))
      expect(metadata.name).toMatch(/^job-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
      expect(metadata['generateName']).toBe('job-')
      names.add(metadata.name)
    }
    expect(names.size).toBe(10)
  })

  test('META-09: has a long generateName cut, and name takes precedence over generateName', async () => {
    const path = await someConfigMaps(server.api)
    const long = await created(server.api, path, configMap({ generateName: 'g'.repeat(80) }))
    expect(long.metadata.name).toMatch(/^g{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    const named = await created(server.api, path, configMap({ name: 'mine', generateName: 'job-' }))
    expect(named.metadata.name).toBe('mine')
  })

  test('META-09: with a taken generated name may be tried again', async () => {
    const api = await anApi({ version: '1.25', random: () => 0 })
    const path = await someConfigMaps(api)
    await created(api, path, configMap({ generateName: 'job-' }))
    const { status, headers, body } = await api.post(path, configMap({ generateName: 'job-' }))
    expect({ status, reason: body['reason'], retry: headers['retry-after'] }).toEqual({
      status: 409,
      reason: 'AlreadyExists',
      retry: '1',
    })
    expect(body['message']).toContain('the server was not able to generate a unique name for the object')
  })

  test('META-10: of a cluster-scoped object loses its namespace', async () => {
    const name = aName('csi')
    const object = { ...csiNode(name), metadata: { name, namespace: 'default' } }
    const { status, body } = await server.api.post('/apis/storage.orch.io/v1/csinodes', object)
    expect([status, body.metadata.name]).toEqual([201, name])
    expect(body.metadata).not.toHaveProperty('namespace')
  })

  test('META-09: with a taken generated name gets another name', async () => {
    // The generator draws five characters for each name. The first two names are equal unless another request draws in between; the third differs.
    let drawn = 0
    const api = await anApi({ version: '1.25', random: () => (drawn++ < 10 ? 0 : Math.random()) })
    const path = await someConfigMaps(api)
    drawn = 0
    const first = await created(api, path, configMap({ generateName: 'job-' }))
    const second = await created(api, path, configMap({ generateName: 'job-' }))
    expect(second.metadata.name).not.toBe(first.metadata.name)
  })

  test('META-09: without name and generateName is a missing value', async () => {
    const { status, body } = await server.api.post(await someConfigMaps(server.api), configMap())
    expect(status).toBe(422)
    expect(body).toEqual(
      failure(422, 'Invalid', 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required', {
        kind: 'ConfigMap',
        causes: [{ reason: 'FieldValueRequired', message: 'Required value: name or generateName is required', field: 'metadata.name' }],
      }),
    )
  })

  test('META-17: has finalizers that any client may change', async () => {
    const path = await someConfigMaps(server.api)
    await created(server.api, path, configMap({ name: 'a', finalizers: ['example.com/one'] }))
    const { body } = await server.api.patch(`${path}/a`, { metadata: { finalizers: ['example.com/two', 'example.com/one'] } })
    expect(body.metadata.finalizers).toEqual(['example.com/two', 'example.com/one'])
  })

  test('META-21: has a generation that counts changes of the spec, not of labels or status', async () => {
    const namespace = await aNamespace(server.api)
    const path = `/api/v1/namespaces/${namespace}/replicationcontrollers`
    const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const made = await created(server.api, path, {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { name: 'a' },
      spec: { template },
    })
    const generationAfter = async (target: string, patch: unknown) => (await server.api.patch(target, patch)).body.metadata.generation
    expect(made.metadata.generation).toBe(1)
    expect(await generationAfter(`${path}/a`, { metadata: { labels: { x: 'y' } } })).toBe(1)
    expect(await generationAfter(`${path}/a/status`, { status: { replicas: 1 } })).toBe(1)
    expect(await generationAfter(`${path}/a`, { spec: { replicas: 3 } })).toBe(2)
  })

  test.each([
    ['names with capitals', { name: 'Abc' }, 'metadata.name'],
    ['names of 300 characters', { name: 'a'.repeat(300) }, 'metadata.name'],
    ['names with a slash', { name: 'a/b' }, 'metadata.name'],
    ['generateNames that can’t begin a name', { generateName: 'Bad_' }, 'metadata.generateName'],
    ['label keys with a space', { name: 'a', labels: { 'a b': 'x' } }, 'metadata.labels'],
    ['label values of 64 characters', { name: 'a', labels: { x: 'v'.repeat(64) } }, 'metadata.labels'],
    ['label values that end with a dash', { name: 'a', labels: { x: 'v-' } }, 'metadata.labels'],
    ['annotation keys with a space', { name: 'a', annotations: { 'a b': 'x' } }, 'metadata.annotations'],
    ['annotations over 256 KiB', { name: 'a', annotations: { x: 'v'.repeat(262_144) } }, 'metadata.annotations'],
    ['finalizers that are no qualified name', { name: 'a', finalizers: ['a b'] }, 'metadata.finalizers'],
    [
      'owners without a uid',
      { name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '' }] },
      'metadata.ownerReferences',
    ],
  ])('META-21: %s are refused', async (_what, metadata, field) => {
    const path = await someConfigMaps(server.api)
    const { status, body } = await server.api.post(path, configMap(metadata))
    expect({ status, reason: body['reason'] }).toEqual({ status: 422, reason: 'Invalid' })
    const { causes } = body['details'] as { causes: { field: string }[] }
    expect(causes.map((cause) => cause.field.slice(0, field.length))).toContain(field)
    expect((await server.api.get(path)).body.items).toEqual([])
  })

  test('META-21: with an invalid generateName is reported for both fields, and the message for annotations has their bound', async () => {
    const path = await someConfigMaps(server.api)
    const { body } = await server.api.post(path, configMap({ generateName: 'Bad_' }))
    const { causes } = body['details'] as { causes: { field: string }[] }
    expect(causes.map(({ field }) => field)).toEqual(['metadata.generateName', 'metadata.name'])
    const long = await server.api.post(path, configMap({ name: 'a', annotations: { x: 'v'.repeat(262_144) } }))
    expect(long.body['message']).toBe('ConfigMap "a" is invalid: metadata.annotations: Too long: must have at most 262144 bytes')
  })

  test('META-21: has an immutable uid', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { status, body } = await server.api.patch(`${path}/a`, { metadata: { uid: 'zzz' } })
    expect(status).toBe(422)
    expect(body['message']).toBe('ConfigMap "a" is invalid: metadata.uid: Invalid value: "zzz": field is immutable')
  })
})

describe('addresses', () => {
  test('ADDR-01, ADDR-06, ADDR-07, VERB-01: of the core group begin with /api', async () => {
    const path = await someConfigMaps(server.api, 'a')
    expect(path).toMatch(/^\/api\/v1\/namespaces\//)
    expect((await server.api.get(`${path}/a`)).body).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'a' } })
  })

  test('ADDR-02, ADDR-03, ADDR-04: of a named group begin with /apis', async () => {
    const name = aName('csi')
    await created(server.api, '/apis/storage.orch.io/v1/csinodes', csiNode(name))
    expect(namesOfItems((await server.api.get('/apis/storage.orch.io/v1/csinodes')).body)).toContain(name)
    expect((await server.api.get(`/apis/storage.orch.io/v1/csinodes/${name}`)).body.metadata.name).toBe(name)
  })

  test('ADDR-05, ADDR-06: of a namespaced type are for all namespaces, or for one', async () => {
    const [first, second] = [await aNamespace(server.api), await aNamespace(server.api)]
    const name = aName('across')
    const lease = { apiVersion: 'coordination.orch.io/v1', kind: 'Lease', metadata: { name } }
    for (const namespace of [first, second]) {
      await created(server.api, `/apis/coordination.orch.io/v1/namespaces/${namespace}/leases`, lease)
    }
    const { body } = await server.api.get(`/apis/coordination.orch.io/v1/leases?fieldSelector=metadata.name%3D${name}`)
    expect(body.items.map(({ metadata }) => metadata.namespace)).toEqual([first, second].sort())
    const one = await server.api.get(`/apis/coordination.orch.io/v1/namespaces/${first}/leases`)
    expect(namesOfItems(one.body)).toEqual([name])
  })

  test('ADDR-06, ADDR-07: distinguish names with a common prefix', async () => {
    const base = aName('alike')
    for (const namespace of [base, `${base}-1`, `${base}0`]) {
      await created(server.api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      for (const name of ['a', 'a.b', 'a-b', 'ab']) await created(server.api, configMapsIn(namespace), configMap({ name }))
    }
    const { body } = await server.api.get(configMapsIn(base))
    expect(body.items.map(({ metadata }) => metadata.namespace)).toEqual([base, base, base, base])
    expect(namesOfItems(body)).toEqual(['a', 'a-b', 'a.b', 'ab'])
    const watch = await server.api.watch(`${configMapsIn(base)}?watch=1&fieldSelector=metadata.name%3Da`)
    await server.api.patch(`${configMapsIn(base)}/ab`, { data: { x: '1' } })
    await server.api.patch(`${configMapsIn(`${base}-1`)}/a`, { data: { x: '1' } })
    await server.api.patch(`${configMapsIn(base)}/a`, { data: { x: '1' } })
    const events = await watch.take(2)
    expect(events.map(({ type, object }) => `${type} ${object.metadata.namespace}/${object.metadata.name}`)).toEqual([
      `ADDED ${base}/a`,
      `MODIFIED ${base}/a`,
    ])
    await server.api.delete(configMapsIn(base))
    expect((await server.api.get(configMapsIn(`${base}-1`))).body.items).toHaveLength(4)
  })

  test('ADDR-08, ADDR-09: of subresources have specific verbs', async () => {
    const name = aName('node')
    await created(server.api, '/api/v1/nodes', node(name))
    expect((await server.api.get(`/api/v1/nodes/${name}/status`)).body.metadata.name).toBe(name)
    expect((await server.api.delete(`/api/v1/nodes/${name}/status`)).status).toBe(405)
    expect((await server.api.delete(`/api/v1/nodes/${name}`)).status).toBe(200)
  })

  test('ADDR-10, ADDR-11: of namespaces work', async () => {
    const name = await aNamespace(server.api)
    expect(namesOfItems((await server.api.get('/api/v1/namespaces')).body)).toContain(name)
    const { body } = await server.api.get(`/api/v1/namespaces/${name}`)
    expect(body).toMatchObject({ kind: 'Namespace', metadata: { name } })
    expect(body.metadata).not.toHaveProperty('namespace')
  })

  test('ADDR-09: of a subresource with POST have no other verb', async () => {
    const pod = `/api/v1/namespaces/default/pods/${aName('pod')}`
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod.split('/').at(-1) } }
    expect((await server.api.post(`${pod}/eviction`, eviction)).status).not.toBe(405)
    for (const method of ['GET', 'PUT', 'DELETE']) expect((await server.api.send(method, `${pod}/eviction`)).status).toBe(405)
  })

  test('ADDR-14: of a collection have no subresource', async () => {
    const { status } = await server.api.get('/api/v1/nodes//status')
    expect(status).toBeGreaterThanOrEqual(400)
    expect((await server.api.get(`/api/v1/namespaces/default/replicationcontrollers/none/status`)).status).toBe(404)
  })

  test('ADDR-19: have the plural, and the body has the kind', async () => {
    expect((await server.api.get('/api/v1/Node')).status).toBe(404)
    expect((await server.api.get('/api/v1/node')).status).toBe(404)
    expect((await server.api.get('/api/v1/nodes')).body.kind).toBe('NodeList')
  })

  test('ADDR-01: in an absent namespace are refused for a create', async () => {
    const { status, body } = await server.api.post(configMapsIn('absent'), configMap({ name: 'a' }))
    expect(status).toBe(404)
    expect(body).toEqual(failure(404, 'NotFound', 'namespaces "absent" not found', { name: 'absent', kind: 'namespaces' }))
    expect((await server.api.get(configMapsIn('absent'))).body.items).toEqual([])
  })
})

describe('verbs', () => {
  test('VERB-05, EP-18: create answers 201 with the object', async () => {
    const path = await someConfigMaps(server.api)
    expect(await server.api.post(path, configMap({ name: 'a' }))).toMatchObject({ status: 201, body: { kind: 'ConfigMap' } })
  })

  test('VERB-06, VERB-08, EP-19: update replaces the object', async () => {
    const path = await someConfigMaps(server.api)
    const made = await created(server.api, path, configMap({ name: 'a', labels: { x: 'y' }, data: { one: '1', two: '2' } }))
    const { status, body } = await server.api.put(`${path}/a`, configMap({ name: 'a', data: { one: '1' } }))
    expect(status).toBe(200)
    expect(body['data']).toEqual({ one: '1' })
    expect(body.metadata).not.toHaveProperty('labels')
    expect(body.metadata).toMatchObject({ uid: made.metadata.uid, creationTimestamp: made.metadata.creationTimestamp })
  })

  test('VERB-07: PUT of an absent object creates it if the kind allows that', async () => {
    const namespace = await aNamespace(server.api)
    const lease = { apiVersion: 'coordination.orch.io/v1', kind: 'Lease', metadata: { name: 'a' } }
    const path = `/apis/coordination.orch.io/v1/namespaces/${namespace}/leases`
    expect((await server.api.put(`${path}/a`, lease)).status).toBe(201)
    const { body } = await server.api.get(`${path}/a`)
    expect((await server.api.put(`${path}/a`, body)).status).toBe(200)
    const name = `of-${namespace}`
    const runtimeClass = { apiVersion: 'node.orch.io/v1', kind: 'RuntimeClass', metadata: { name }, handler: 'sandbox' }
    expect((await server.api.put(`/apis/node.orch.io/v1/runtimeclasses/${name}`, runtimeClass)).status).toBe(201)
    expect((await server.api.put(`${configMapsIn(namespace)}/a`, configMap({ name: 'a' }))).status).toBe(404)
  })

  test('VERB-08: an update with an old version is a conflict and leaves the object unchanged', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { body: old } = await server.api.get(`${path}/a`)
    const { body: live } = await server.api.patch(`${path}/a`, { data: { x: '1' } })
    const { status, body } = await server.api.put(`${path}/a`, { ...old, data: { x: '2' } })
    expect(status).toBe(409)
    expect(body).toEqual(
      failure(
        409,
        'Conflict',
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
        { name: 'a', kind: 'configmaps' },
      ),
    )
    expect((await server.api.get(`${path}/a`)).body).toEqual(live)
  })

  test('VERB-08: of many parallel updates of one version, one succeeds', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { body: live } = await server.api.get(`${path}/a`)
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => server.api.put(`${path}/a`, { ...live, data: { at: String(at) } })),
    )
    const winners = answers.filter(({ status }) => status === 200)
    expect(winners).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9)
    expect((await server.api.get(`${path}/a`)).body).toEqual(winners[0]!.body)
  })

  test('VERB-08: version 0 in an update counts as no version', async () => {
    const path = await someConfigMaps(server.api)
    expect((await server.api.post(path, configMap({ name: 'a', resourceVersion: '0' }))).status).toBe(201)
    expect((await server.api.put(`${path}/a`, configMap({ name: 'a', resourceVersion: '0', data: { x: '1' } }))).status).toBe(200)
  })

  test('VERB-08: a uid in an update is a precondition', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { body: old } = await server.api.get(`${path}/a`)
    await server.api.delete(`${path}/a`)
    const { resourceVersion: _version, ...metadata } = old.metadata
    expect((await server.api.put(`${path}/a`, { ...old, metadata })).status).toBeOneOf([404, 409])
    await created(server.api, path, configMap({ name: 'a' }))
    expect((await server.api.put(`${path}/a`, { ...old, metadata })).body).toMatchObject({ code: 409, reason: 'Conflict' })
  })

  test('VERB-05: a POST to an object, or with a name in the path, is a 405', async () => {
    const path = await someConfigMaps(server.api)
    expect((await server.api.post(`${path}/a`, configMap({ name: 'a' }))).status).toBe(405)
    expect((await server.api.post(`${path}/a/b/c`, configMap({ name: 'a' }))).status).toBe(404)
  })

  test('VERB-09, PATCH-01, EP-21: a merge patch works', async () => {
    const path = await someConfigMaps(server.api)
    await created(server.api, path, configMap({ name: 'a', data: { one: '1', two: '2' } }))
    const { status, body } = await server.api.patch(`${path}/a`, { data: { one: null, three: '3' } })
    expect({ status, data: body['data'] }).toEqual({ status: 200, data: { two: '2', three: '3' } })
  })

  test('VERB-09, PATCH-02: a JSON patch works', async () => {
    const path = await someConfigMaps(server.api)
    const annotations = { 'example.com/note': 'n', other: 'o' }
    await created(server.api, path, configMap({ name: 'a', annotations, data: { one: '1' } }))
    const { status, body } = await server.api.patch(`${path}/a`, [
      { op: 'test', path: '/data/one', value: '1' },
      { op: 'remove', path: '/metadata/annotations/example.com~1note' },
      { op: 'add', path: '/data/two', value: '2' },
      { op: 'copy', from: '/data/two', path: '/data/three' },
      { op: 'move', from: '/data/one', path: '/data/four' },
      { op: 'replace', path: '/data/two', value: '5' },
    ])
    expect({ status, data: body['data'] }).toEqual({ status: 200, data: { two: '5', three: '2', four: '1' } })
    expect(body.metadata['annotations']).toEqual({ other: 'o' })
  })

  test.each([
    ['a failed test', [{ op: 'test', path: '/data', value: 'other' }]],
    ['a path that is absent', [{ op: 'remove', path: '/data/none' }]],
    ['an operation that is unknown', [{ op: 'shuffle', path: '/data' }]],
  ])('PATCH-02: %s is a 422', async (_what, patch) => {
    const path = await someConfigMaps(server.api, 'a')
    const { status, body } = await server.api.patch(`${path}/a`, patch)
    expect(status).toBe(422)
    expect(body).toMatchObject({
      reason: 'Invalid',
      message: expect.stringMatching(/^the server rejected our request due to an error in our request/),
    })
  })

  test('PATCH-02: more than 10,000 operations are refused', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const patch = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' }))
    expect((await server.api.patch(`${path}/a`, patch)).body).toEqual(
      failure(413, 'RequestEntityTooLarge', 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001'),
    )
  })

  test('VERB-09: a patch may not change the name, and a version in it is a precondition', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { body: old } = await server.api.get(`${path}/a`)
    await server.api.patch(`${path}/a`, { data: { x: '1' } })
    const stale = await server.api.patch(`${path}/a`, { metadata: { resourceVersion: old.metadata.resourceVersion }, data: { x: '2' } })
    expect(stale).toMatchObject({ status: 409, body: { reason: 'Conflict' } })
    const { body: live } = await server.api.get(`${path}/a`)
    const fresh = await server.api.patch(`${path}/a`, { metadata: { resourceVersion: live.metadata.resourceVersion }, data: { x: '3' } })
    expect(fresh.status).toBe(200)
    expect((await server.api.patch(`${path}/a`, { metadata: { name: 'b' } })).status).toBeOneOf([400, 422])
  })

  test.each([
    ['the metadata', { metadata: null }],
    ['the name', { metadata: { name: null } }],
    ['the name, by JSON patch', [{ op: 'remove', path: '/metadata/name' }]],
    ['the metadata, by JSON patch', [{ op: 'remove', path: '/metadata' }]],
    ['the kind', { kind: null }],
    ['everything', [{ op: 'replace', path: '', value: null }]],
    ['everything but a number', [{ op: 'replace', path: '', value: 7 }]],
  ])('VERB-09: a patch cannot remove %s', async (_what, patch) => {
    const path = await someConfigMaps(server.api, 'a')
    const { body: before } = await server.api.get(`${path}/a`)
    expect((await server.api.patch(`${path}/a`, patch)).status).toBeOneOf([400, 422])
    expect((await server.api.get(`${path}/a`)).body).toEqual(before)
  })

  test('VERB-09: a patch cannot remove members of the server', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { body: before } = await server.api.get(`${path}/a`)
    const metadata = { namespace: null, uid: null, creationTimestamp: null, resourceVersion: null, labels: { x: 'y' } }
    const { status, body } = await server.api.patch(`${path}/a`, { metadata })
    const { name, namespace, uid, creationTimestamp } = before.metadata
    expect({ status, metadata: body.metadata }).toMatchObject({
      status: 200,
      metadata: { name, namespace, uid, creationTimestamp, resourceVersion: expect.any(String), labels: { x: 'y' } },
    })
  })

  test('VERB-09: parallel patches are all applied', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, at) => server.api.patch(`${path}/a`, { data: { [`k${at}`]: String(at) } })),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect((await server.api.get(`${path}/a`)).body['data']).toEqual({ k0: '0', k1: '1', k2: '2', k3: '3', k4: '4' })
  })

  test('VERB-09: a patch of an absent object is a 404, and of a collection a 405', async () => {
    const path = await someConfigMaps(server.api)
    expect((await server.api.patch(`${path}/none`, {})).status).toBe(404)
    expect((await server.api.patch(path, {})).status).toBe(405)
  })

  const several = { apiVersion: 'v1', kind: 'ConfigMapList', items: [configMap({ name: 'a' }), configMap({ name: 'b' })] }

  test('VERB-14: get, update, patch, apply and delete change only the object of their path', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    const other = (await server.api.get(`${path}/b`)).text
    expect((await server.api.get(`${path}/a`)).body).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'a' } })
    const { body } = await server.api.get(`${path}/a`)
    expect((await server.api.put(`${path}/a`, { ...body, data: { x: 'put' } })).status).toBe(200)
    expect((await server.api.patch(`${path}/a`, { data: { x: 'patched' } })).status).toBe(200)
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    const applied = await server.api.send('PATCH', `${path}/a?fieldManager=m&force=true`, {
      headers,
      body: configMap({ name: 'a', data: { x: 'applied' } }),
    })
    expect({ status: applied.status, data: applied.body['data'] }).toEqual({ status: 200, data: { x: 'applied' } })
    expect((await server.api.get(`${path}/b`)).text).toBe(other)
    expect((await server.api.delete(`${path}/a`)).status).toBe(200)
    const { items } = (await server.api.get(path)).body
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['b'])
    expect((await server.api.get(`${path}/b`)).text).toBe(other)
  })

  test.each([
    ['PUT', 'application/json', JSON.stringify(several)],
    ['PUT', 'application/json', JSON.stringify(several.items)],
    ['PATCH', 'application/merge-patch+json', JSON.stringify(several.items)],
    ['PATCH', 'application/apply-patch+yaml', JSON.stringify(several)],
  ])('VERB-14: %s with several objects as %s is refused, and nothing is changed', async (method, type, body) => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    // The list's revision is the store's revision, and other clients also write to the store.
    const before = (await server.api.get(path)).body.items
    const { status } = await server.api.send(method, `${path}/a?fieldManager=m`, { headers: { 'content-type': type }, body })
    expect(status).toBeOneOf([400, 422])
    expect((await server.api.get(path)).body.items).toEqual(before)
  })

  test.each([
    ['PUT', 'application/yaml'],
    ['PATCH', 'application/apply-patch+yaml'],
  ])('VERB-14: %s with several YAML documents as %s writes only the first', async (method, type) => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    const other = (await server.api.get(`${path}/b`)).text
    const documents = ['a', 'b'].map((name) => JSON.stringify(configMap({ name, data: { x: 'new' } })))
    const query = method === 'PATCH' ? '?fieldManager=m&force=true' : ''
    const answer = await server.api.send(method, `${path}/a${query}`, {
      headers: { 'content-type': type },
      body: documents.join('\n---\n'),
    })
    expect({ status: answer.status, data: answer.body['data'] }).toEqual({ status: 200, data: { x: 'new' } })
    expect((await server.api.get(`${path}/b`)).text).toBe(other)
  })

  test('VERB-14, VERB-15: a body with several objects is refused, and no object is created', async () => {
    const path = await someConfigMaps(server.api)
    expect((await server.api.post(path, several)).status).toBe(400)
    expect((await server.api.post(path, several.items)).status).toBe(400)
    const two = `${JSON.stringify(configMap({ name: 'a' }))}${JSON.stringify(configMap({ name: 'b' }))}`
    expect((await server.api.post(path, two)).status).toBe(400)
    expect((await server.api.get(path)).body.items).toEqual([])
  })

  test('VIRT-04: a permission check is sent without a name, and cannot be read', async () => {
    const path = '/apis/authorization.orch.io/v1/subjectaccessreviews'
    const { body } = await server.api.get('/apis/authorization.orch.io/v1')
    const resources = body['resources'] as { name: string; verbs: string[] }[]
    expect(resources.find(({ name }) => name === 'subjectaccessreviews')?.verbs).toEqual(['create'])
    expect((await server.api.get(path)).status).toBe(405)
    const review = {
      apiVersion: 'authorization.orch.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: 'a', nonResourceAttributes: { path: '/', verb: 'get' } },
    }
    const answer = await server.api.post(path, review)
    expect(answer.text).not.toContain('metadata.name')
    expect(answer.status).not.toBe(422)
  })
})

describe('names in paths', () => {
  test.each(['%2e%2e', '.', '..', '%2E', 'a%252Fb'])('ADDR-07: may not be %s', async (name) => {
    const { status } = await server.api.get(`${configMapsIn('default')}/${name}`)
    expect(status).toBeOneOf([400, 404])
  })

  test('ADDR-07: with a NUL are harmless', async () => {
    const { status } = await server.api.get(`${configMapsIn('default')}/a%00b`)
    expect(status).toBeOneOf([400, 404])
    expect((await server.api.get('/livez')).status).toBe(200)
  })

  test('ADDR-07: may be escaped', async () => {
    const namespace = await aNamespace(server.api)
    const role = { apiVersion: 'rbac.authorization.orch.io/v1', kind: 'Role', metadata: { name: 'system:a b' }, rules: [] }
    const path = `/apis/rbac.authorization.orch.io/v1/namespaces/${namespace}/roles`
    await created(server.api, path, role)
    expect((await server.api.get(`${path}/${encodeURIComponent('system:a b')}`)).body.metadata.name).toBe('system:a b')
  })
})
