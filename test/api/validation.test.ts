import { describe, expect, test } from 'vitest'
import {
  type Answer,
  aName,
  aNamespace,
  anApi,
  configMap,
  configMapsIn,
  created,
  failure,
  sharedApi,
  someConfigMaps,
  untilEverywhere,
} from './api.ts'

const server = sharedApi({ version: '1.25' })

/** An object with two unknown fields, one of them nested, and a duplicate field. */
const strange = (name: string) =>
  `{"apiVersion":"v1","kind":"ConfigMap","bogus":1,"metadata":{"name":"${name}","strange":{"x":1}},"data":{"a":"1","a":"2"}}`

const problems = ['unknown field "bogus"', 'unknown field "metadata.strange"', 'duplicate field "data.a"']

describe('types', () => {
  const node = (spec: unknown) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: aName('node') }, spec })

  test.each(['Ignore', 'Warn', 'Strict'])('VAL-01: types are checked with fieldValidation=%s', async (validation) => {
    const target = `/api/v1/nodes?fieldValidation=${validation}`
    expect((await server.api.post(target, node({ unschedulable: 'yes' }))).status).toBe(400)
    expect((await server.api.post(target, node({ podCIDR: 7 }))).status).toBe(400)
  })

  test('VAL-01: text for a number is refused', async () => {
    const { status, body } = await server.api.post(`/api/v1/namespaces/default/replicationcontrollers`, {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { name: 'a' },
      spec: { replicas: 'three' },
    })
    expect({ status, reason: body['reason'] }).toEqual({ status: 400, reason: 'BadRequest' })
    expect(body['message']).toContain('spec.replicas')
  })

  test.each([[{}], ['text'], [7], [true]])('VAL-02: %j is not an array', async (taints) => {
    const { status, body } = await server.api.post('/api/v1/nodes', node({ taints }))
    expect({ status, reason: body['reason'] }).toEqual({ status: 400, reason: 'BadRequest' })
    expect(body['message']).toContain('taints')
  })

  test('VAL-03: a required field that is absent is refused', async () => {
    const { status, body } = await server.api.post('/api/v1/nodes', node({ taints: [{ key: 'k' }] }))
    expect(status).toBe(422)
    expect(body['details']).toMatchObject({
      causes: [{ reason: 'FieldValueRequired', message: 'Required value', field: 'metadata.taints[0].effect' }],
    })
  })
})

test('the empty group of a core kind may be spelled out in the body', async () => {
  const path = await someConfigMaps(server.api)
  const { status, body } = await server.api.post(path, { ...configMap({ name: 'a' }), apiVersion: '/v1' })
  expect([status, body.apiVersion]).toEqual([201, 'v1'])
  const other = await server.api.post(path, { ...configMap({ name: 'b' }), apiVersion: '/v2' })
  expect([other.status, other.body['message']]).toEqual([400, expect.stringContaining('no kind "ConfigMap" is registered for version')])
})

describe('unknown and duplicate fields', () => {
  test('VAL-04, VAL-05, VAL-06: are dropped by default', async () => {
    const path = await someConfigMaps(server.api)
    const { status, body } = await server.api.post(path, strange('a'))
    expect(status).toBe(201)
    expect(body).not.toHaveProperty('bogus')
    expect(body.metadata).not.toHaveProperty('strange')
    expect(body['data']).toEqual({ a: '2' })
    expect((await server.api.get(`${path}/a`)).body).toEqual(body)
  })

  test('VAL-09, VAL-10, VAL-11: are each named in a warning by default', async () => {
    const path = await someConfigMaps(server.api)
    const { status, headers } = await server.api.post(path, strange('a'))
    expect(status).toBe(201)
    const texts = problems.map((problem) => `299 - "${problem.replaceAll('"', '\\"')}"`)
    for (const text of texts) expect(String(headers['warning'])).toContain(text)
    expect(String(headers['warning']).split('299 - ')).toHaveLength(1 + problems.length)
  })

  test('VAL-09: cause a warning with Warn', async () => {
    const path = await someConfigMaps(server.api)
    const { status, headers } = await server.api.post(`${path}?fieldValidation=Warn`, strange('a'))
    expect({ status, hasWarning: headers['warning'] !== undefined }).toEqual({ status: 201, hasWarning: true })
  })

  test('VAL-08: are dropped silently with Ignore', async () => {
    const path = await someConfigMaps(server.api)
    const { status, headers, body } = await server.api.post(`${path}?fieldValidation=Ignore`, strange('a'))
    expect({ status, warning: headers['warning'], data: body['data'] }).toEqual({ status: 201, warning: undefined, data: { a: '2' } })
    expect(body).not.toHaveProperty('bogus')
  })

  test('VAL-12, VAL-13, VAL-14, ERR-01: are all named in a refusal with Strict', async () => {
    const path = await someConfigMaps(server.api, 'b')
    const message = (name: string) => `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ${name}`
    const post = await server.api.post(`${path}?fieldValidation=Strict`, strange('a'))
    expect(post.status).toBe(400)
    expect(post.body).toEqual(failure(400, 'BadRequest', message(problems.join(', '))))
    expect((await server.api.get(`${path}/a`)).status).toBe(404)
    const put = await server.api.put(`${path}/b?fieldValidation=Strict`, strange('b'))
    expect(put.body).toEqual(failure(400, 'BadRequest', message(problems.join(', '))))
    expect((await server.api.get(`${path}/b`)).body).not.toHaveProperty('data')
  })

  test.each<[string, string, unknown]>([
    ['a JSON patch', 'application/json-patch+json', [{ op: 'add', path: '/bogus', value: 1 }]],
    ['a merge patch', 'application/merge-patch+json', { bogus: 1, data: { k: '2' } }],
    ['a strategic merge patch', 'application/strategic-merge-patch+json', { bogus: 1, data: { k: '2' } }],
    ['an apply', 'application/apply-patch+yaml', { apiVersion: 'v1', kind: 'ConfigMap', bogus: 1, data: { k: '2' } }],
  ])('ERR-01, VAL-12, VAL-14: are refused with Strict in %s with a 400, and nothing is stored', async (_name, type, patch) => {
    const path = await someConfigMaps(server.api, 'a')
    const before = (await server.api.get(`${path}/a`)).text
    const target = `${path}/a?fieldValidation=Strict&fieldManager=m`
    const { status, body } = await server.api.send('PATCH', target, { body: patch, headers: { 'content-type': type } })
    expect({ status, reason: body['reason'] }).toEqual({ status: 400, reason: 'BadRequest' })
    expect(body['message']).toContain('bogus')
    expect((await server.api.get(`${path}/a`)).text).toBe(before)
  })

  test('VAL-13: are reported in the order of the body, and a nested unknown field is reported once', async () => {
    const path = await someConfigMaps(server.api)
    const text = `{"data":{"k":"1","k":"2"},"bogus":{"a":1,"a":2},"metadata":{"name":"a","name":"a","odd":1},"bogus":1}`
    const order = ['duplicate field "data.k"', 'unknown field "bogus"', 'duplicate field "metadata.name"', 'unknown field "metadata.odd"']
    const { body } = await server.api.post(`${path}?fieldValidation=Strict`, text)
    expect(String(body['message']).split('strict decoding error: ')[1]).toBe(order.join(', '))
  })

  test('VAL-13: are sorted in YAML and in the result of a patch, whose duplicates come first, those of unknown fields included', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const reported = async (method: string, at: string, type: string, body: string) => {
      const answer = await server.api.send(method, `${at}?fieldValidation=Strict`, { body, headers: { 'content-type': type } })
      return String(answer.body['message']).split('strict decoding error: ')[1]
    }
    const unknown = 'unknown field "bogus", unknown field "metadata.odd", unknown field "zzz"'
    expect(await reported('POST', path, 'application/yaml', 'zzz: 1\nmetadata: {odd: 1, name: b}\nbogus: 1\n')).toBe(unknown)
    for (const type of ['application/merge-patch+json', 'application/strategic-merge-patch+json']) {
      const text = '{"zzz":1,"zzz":2,"metadata":{"odd":1},"bogus":1,"data":{"k":"1","k":"2"}}'
      expect(await reported('PATCH', `${path}/a`, type, text)).toBe(`duplicate field "zzz", duplicate field "data.k", ${unknown}`)
    }
  })

  test('VAL-14: cause a warning with Warn on PUT and PATCH', async () => {
    const path = await someConfigMaps(server.api, 'a')
    expect(String((await server.api.put(`${path}/a`, strange('a'))).headers['warning'])).toContain('bogus')
    const { status, headers, body } = await server.api.patch(`${path}/a`, { bogus: 1, data: { c: '3' } })
    expect({ status, data: body['data'] }).toEqual({ status: 200, data: { a: '2', c: '3' } })
    expect(headers['warning']).toBe('299 - "unknown field \\"bogus\\""')
  })

  test('VAL-05: do not exist in a map, with any key', async () => {
    const path = await someConfigMaps(server.api)
    const text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"__proto__":"1","constructor":"2","toString":"3"}}'
    const { status, headers, text: answer } = await server.api.post(`${path}?fieldValidation=Strict`, text)
    expect({ status, warning: headers['warning'] }).toEqual({ status: 201, warning: undefined })
    expect(answer).toContain('"__proto__":"1"')
    expect((await server.api.get(`${path}/a`)).text).toBe(answer)
  })

  test('VAL-15: are dropped silently with the gate off, and the parameter has no effect', async () => {
    const api = await anApi({ version: '1.25', featureGates: ['ServerSideFieldValidation=false'] })
    const path = configMapsIn(await aNamespace(api))
    const { status, headers } = await api.post(path, strange('a'))
    expect({ status, warning: headers['warning'] }).toEqual({ status: 201, warning: undefined })
  })
})

describe('a dry run', () => {
  test('DRY-01, DRY-08, DRY-09, DRY-10: of a create answers like a create, and stores nothing', async () => {
    const path = await someConfigMaps(server.api)
    const { body: before } = await server.api.get(path)
    const watch = await server.api.watch(`${path}?watch=1&resourceVersion=${before.metadata.resourceVersion}`)
    const { status, body } = await server.api.post(`${path}?dryRun=All`, configMap({ name: 'a', data: { x: '1' } }))
    expect(status).toBe(201)
    expect(body).toMatchObject({
      kind: 'ConfigMap',
      metadata: { name: 'a', uid: expect.any(String), creationTimestamp: expect.any(String) },
      data: { x: '1' },
    })
    expect(body.metadata).not.toHaveProperty('resourceVersion')
    expect((await server.api.get(`${path}/a`)).status).toBe(404)
    const real = await created(server.api, path, configMap({ name: 'b' }))
    expect(await watch.next()).toEqual({ type: 'ADDED', object: real })
  })

  test('DRY-01, DRY-10: of an update, patch and delete changes nothing', async () => {
    const path = await someConfigMaps(server.api)
    const made = await created(server.api, path, configMap({ name: 'a', data: { x: '1' } }))
    const put = await server.api.put(`${path}/a?dryRun=All`, configMap({ name: 'a', data: { x: '2' } }))
    expect(put).toMatchObject({ status: 200, body: { data: { x: '2' } } })
    expect(put.body.metadata.resourceVersion).toBe(made.metadata.resourceVersion)
    const patch = await server.api.patch(`${path}/a?dryRun=All`, { data: { y: '3' } })
    expect(patch).toMatchObject({ status: 200, body: { data: { x: '1', y: '3' } } })
    const gone = await server.api.delete(`${path}/a?dryRun=All`)
    expect(gone).toMatchObject({ status: 200, body: { kind: 'Status', status: 'Success', details: { name: 'a', uid: made.metadata.uid } } })
    const body = await server.api.delete(`${path}/a`, { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] })
    expect(body.status).toBe(200)
    expect((await server.api.get(`${path}/a`)).body).toEqual(made)
  })

  test('DRY-02, DRY-03, QP-14: with an empty value is refused, and of several values each is read, for any verb', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const text = (kind: string, values: string) =>
      `${kind}.meta.orch.io "" is invalid: dryRun: Unsupported value: []string{${values}}: supported values: "All"`
    const merge = { data: { x: '2' } }
    const asked: [kind: string, (query: string) => Promise<Answer>][] = [
      ['CreateOptions', (query) => server.api.post(`${path}?${query}`, configMap({ name: 'b' }))],
      ['UpdateOptions', (query) => server.api.put(`${path}/a?${query}`, configMap({ name: 'a', data: { x: '2' } }))],
      ['PatchOptions', (query) => server.api.patch(`${path}/a?${query}`, merge)],
      ['DeleteOptions', (query) => server.api.delete(`${path}/a?${query}`)],
      ['DeleteOptions', (query) => server.api.delete(`${path}/a?${query}`, {})],
      ['DeleteOptions', (query) => server.api.delete(`${path}?${query}`)],
    ]
    for (const [kind, ask] of asked) {
      for (const [query, values] of [
        ['dryRun', '""'],
        ['dryRun=', '""'],
        ['dryRun=&dryRun=All', '"", "All"'],
        ['dryRun=All&dryRun=x', '"All", "x"'],
      ] as const) {
        expect(await ask(query)).toMatchObject({ status: 422, body: { message: text(kind, values) } })
      }
      expect((await ask('dryRun=All&dryRun=All')).status).toBeLessThan(300)
    }
    expect((await server.api.get(path)).body.items).toMatchObject([{ metadata: { name: 'a' } }])
  })

  test('QP-14: with an unknown value is refused', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const message = 'Unsupported value: []string{"x"}: supported values: "All"'
    const { status, body } = await server.api.post(`${path}?dryRun=x`, configMap({ name: 'b' }))
    expect(status).toBe(422)
    expect(body).toEqual(
      failure(422, 'Invalid', `CreateOptions.meta.orch.io "" is invalid: dryRun: ${message}`, {
        group: 'meta.orch.io',
        kind: 'CreateOptions',
        causes: [{ reason: 'FieldValueNotSupported', message, field: 'dryRun' }],
      }),
    )
    for (const [method, kind] of [
      ['PUT', 'UpdateOptions'],
      ['DELETE', 'DeleteOptions'],
    ] as const) {
      const answer = await server.api.send(method, `${path}/a?dryRun=x`, method === 'PUT' ? { body: configMap({ name: 'a' }) } : {})
      expect(answer.body).toMatchObject({ code: 422, details: { kind } })
    }
  })

  test('DRY-04: runs admission', async () => {
    const { status } = await server.api.post(`${configMapsIn('absent')}?dryRun=All`, configMap({ name: 'a' }))
    expect(status).toBe(404)
  })

  test('DRY-05: merges patches', async () => {
    const path = await someConfigMaps(server.api, 'a')
    expect((await server.api.patch(`${path}/a?dryRun=All`, [{ op: 'test', path: '/kind', value: 'Pod' }])).status).toBe(422)
    expect((await server.api.patch(`${path}/a?dryRun=All`, [{ op: 'add', path: '/data', value: { x: '1' } }])).body['data']).toEqual({
      x: '1',
    })
  })

  test('DRY-06, DRY-07: sets defaults and validates', async () => {
    const path = '/api/v1/namespaces/default/replicationcontrollers?dryRun=All'
    const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const controller = (spec: unknown) => ({ apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'a' }, spec })
    expect((await server.api.post(path, controller({ template }))).body).toMatchObject({ spec: { replicas: 1, selector: { app: 'a' } } })
    expect((await server.api.post(path, controller({ template, replicas: -1 }))).status).toBe(422)
  })

  test('DRY-09: reports an existing or absent object', async () => {
    const path = await someConfigMaps(server.api, 'a')
    expect((await server.api.post(`${path}?dryRun=All`, configMap({ name: 'a' }))).status).toBe(409)
    expect((await server.api.delete(`${path}/none?dryRun=All`)).status).toBe(404)
    expect((await server.api.patch(`${path}/none?dryRun=All`, {})).status).toBe(404)
  })

  test('DRY-11: allocates no addresses and creates no namespaces', async () => {
    const namespace = await aNamespace(server.api)
    const path = `/api/v1/namespaces/${namespace}/services`
    const service = (name: string, clusterIP: string) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { clusterIP, ports: [{ port: 80 }] },
    })
    expect((await server.api.post(`${path}?dryRun=All`, service('a', '10.0.0.77'))).status).toBe(201)
    expect((await server.api.post(path, service('b', '10.0.0.77'))).status).toBe(201)
    await created(server.api, configMapsIn(namespace), configMap({ name: 'a' }))
    expect((await server.api.delete(`/api/v1/namespaces/${namespace}?dryRun=All`)).status).toBe(200)
    expect((await server.api.get(`/api/v1/namespaces/${namespace}`)).body).toMatchObject({ status: { phase: 'Active' } })
    expect((await server.api.get(`${configMapsIn(namespace)}/a`)).status).toBe(200)
  })

  test('DRY-17: of a deletecollection deletes nothing', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    expect((await server.api.delete(`${path}?dryRun=All`)).status).toBe(200)
    expect((await server.api.get(path)).body.items).toHaveLength(2)
  })

  test('DRY-14: is refused without permission', async () => {
    expect((await server.api.as({})('POST', `${configMapsIn('default')}?dryRun=All`, { body: configMap({ name: 'a' }) })).status).toBe(403)
  })

  const applied = { 'content-type': 'application/apply-patch+yaml' }
  const merged = { 'content-type': 'application/merge-patch+json' }
  const writes: readonly [verb: string, method: string, at: string, body?: object, headers?: Record<string, string>][] = [
    ['create', 'POST', '', configMap({ name: 'new' })],
    ['update', 'PUT', '/a', configMap({ name: 'a', data: { x: '1' } })],
    ['patch', 'PATCH', '/a', { data: { x: '1' } }, merged],
    ['patch', 'PATCH', '/a?fieldManager=m', configMap({ name: 'a', data: { x: '1' } }), applied],
    ['delete', 'DELETE', '/a'],
    ['deletecollection', 'DELETE', ''],
  ]

  test.each(writes)('DRY-14: needs the right to %s, and allows nothing else (%s %s)', async (verb, ...own) => {
    const path = await someConfigMaps(server.api, 'a')
    const namespace = path.split('/')[4] ?? ''
    const name = aName('user')
    const rbac = `/apis/rbac.authorization.orch.io/v1/namespaces/${namespace}`
    await created(server.api, `${rbac}/roles`, {
      ...{ apiVersion: 'rbac.authorization.orch.io/v1', kind: 'Role', metadata: { name } },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: [verb] }],
    })
    await created(server.api, `${rbac}/rolebindings`, {
      ...{ apiVersion: 'rbac.authorization.orch.io/v1', kind: 'RoleBinding', metadata: { name } },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name },
      subjects: [{ apiGroup: 'rbac.authorization.orch.io', kind: 'User', name }],
    })
    const send = (method: string, at: string, body?: object, headers: Record<string, string> = {}) => {
      const target = `${path}${at}${at.includes('?') ? '&' : '?'}dryRun=All`
      return server.api.send(method, target, { headers: { 'impersonate-user': name, ...headers }, ...(body === undefined ? {} : { body }) })
    }
    const [method, at, body, headers] = own
    const isOk = ({ status }: Answer) => status === 200 || status === 201
    await untilEverywhere(() => send(method, at, body, headers), isOk)
    for (const [otherVerb, otherMethod, ...rest] of writes.filter((write) => write[0] !== verb)) {
      const answer = await send(otherMethod, ...rest)
      expect({ otherVerb, status: answer.status, message: answer.body['message'] }).toEqual({
        otherVerb,
        status: 403,
        message: expect.stringContaining(`User "${name}" cannot ${otherVerb} resource "configmaps"`),
      })
    }
    expect((await server.api.get(path)).body.items).toHaveLength(1)
  })
})
