import { describe, expect, test } from 'vitest'
import { type Answer, aNamespace, type Body, configMap, created, failure, sharedApi, someConfigMaps } from './api.ts'

const server = sharedApi({ version: '1.25' })

type Type = 'json-patch' | 'merge-patch' | 'strategic-merge-patch'

function patch(type: Type, path: string, body: unknown): Promise<Answer> {
  return server.api.send('PATCH', path, { body, headers: { 'content-type': `application/${type}+json` } })
}

const strategic = (path: string, body: unknown) => patch('strategic-merge-patch', path, body)

/** Creates a Deployment in a new namespace; returns its path. */
async function aDeployment(template: Record<string, unknown> = {}): Promise<string> {
  const collection = `/apis/apps/v1/namespaces/${await aNamespace(server.api)}/deployments`
  const containers = [
    { name: 'a', image: 'a:1', env: [{ name: 'X', value: '1' }], ports: [{ containerPort: 80 }] },
    { name: 'b', image: 'b:1' },
  ]
  await created(server.api, collection, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd', labels: { one: '1', two: '2' } },
    spec: {
      selector: { matchLabels: { l: 'v' } },
      template: { metadata: { labels: { l: 'v' } }, spec: { containers, ...template } },
    },
  })
  return `${collection}/d`
}

interface Pod {
  containers: { name: string; image: string; env?: unknown[]; args?: string[] }[]
  [field: string]: unknown
}

const podOf = ({ spec }: Body) => (spec as { template: { spec: Pod } }).template.spec
const inPod = (spec: unknown) => ({ spec: { template: { spec } } })

describe('strategic merge', () => {
  test('PATCH-03, PATCH-06: items of a list are merged by their key', async () => {
    const path = await aDeployment()
    const { status, body } = await strategic(path, inPod({ containers: [{ name: 'b', image: 'b:2' }] }))
    expect(status).toBe(200)
    expect(podOf(body).containers.map(({ name, image }) => `${name}=${image}`)).toEqual(['a=a:1', 'b=b:2'])
  })

  test('PATCH-03: lists inside items are merged too', async () => {
    const path = await aDeployment()
    const { body } = await strategic(path, inPod({ containers: [{ name: 'a', env: [{ name: 'Y', value: '2' }] }] }))
    expect(podOf(body).containers[0]?.env).toEqual([
      { name: 'Y', value: '2' },
      { name: 'X', value: '1' },
    ])
  })

  test('PATCH-03: a directive removes an item, and null removes a member', async () => {
    const path = await aDeployment()
    const change = { metadata: { labels: { one: null } }, ...inPod({ containers: [{ name: 'a', $patch: 'delete' }] }) }
    const { body } = await strategic(path, change)
    expect(podOf(body).containers.map(({ name }) => name)).toEqual(['b'])
    expect(body.metadata.labels).toEqual({ two: '2' })
  })

  test('PATCH-03: a directive replaces a list, and another sets its order', async () => {
    const path = await aDeployment()
    const order = { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] }
    const ordered = await strategic(path, inPod(order))
    expect(podOf(ordered.body).containers.map(({ name }) => name)).toEqual(['b', 'a'])
    const replaced = await strategic(path, inPod({ containers: [{ $patch: 'replace' }, { name: 'c', image: 'c:1' }] }))
    expect(podOf(replaced.body).containers.map(({ name }) => name)).toEqual(['c'])
  })

  test('PATCH-03: $retainKeys removes the other members', async () => {
    const path = await aDeployment()
    const strategy = { $retainKeys: ['type'], type: 'Recreate' }
    const { body } = await strategic(path, { spec: { strategy } })
    expect((body['spec'] as { strategy: unknown }).strategy).toEqual({ type: 'Recreate' })
  })

  test('PATCH-03: values are removed one by one from a list of scalars', async () => {
    const path = (await someConfigMaps(server.api)) as string
    await created(server.api, path, configMap({ name: 'f', finalizers: ['example.com/a', 'example.com/b'] }))
    const { body } = await strategic(`${path}/f`, { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } })
    expect(body.metadata.finalizers).toEqual(['example.com/b'])
    await strategic(`${path}/f`, { metadata: { $patch: 'merge', finalizers: null } })
  })

  test('PATCH-04, KIND-CSI-08: drivers of a CSINode are merged by name', async () => {
    const collection = '/apis/storage.orch.io/v1/csinodes'
    const drivers = [{ name: 'one.example.com', nodeID: 'n' }]
    await created(server.api, collection, {
      apiVersion: 'storage.orch.io/v1',
      kind: 'CSINode',
      metadata: { name: 'merged' },
      spec: { drivers },
    })
    const { body } = await strategic(`${collection}/merged`, { spec: { drivers: [{ name: 'two.example.com', nodeID: 'n' }] } })
    expect((body['spec'] as { drivers: { name: string }[] }).drivers.map(({ name }) => name).sort()).toEqual([
      'one.example.com',
      'two.example.com',
    ])
  })

  test('PATCH-05, KIND-RQ-11: values of a scope selector expression are replaced', async () => {
    const collection = `/api/v1/namespaces/${await aNamespace(server.api)}/resourcequotas`
    const selector = (values: string[]) => ({
      scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values }] },
    })
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q' },
      spec: { hard: { pods: '1' }, ...selector(['a', 'b']) },
    }
    await created(server.api, collection, quota)
    const { body } = await strategic(`${collection}/q`, { spec: selector(['c']) })
    expect(body['spec']).toEqual({ hard: { pods: '1' }, ...selector(['c']) })
  })

  test('PATCH-03: the status can be patched', async () => {
    const path = await aDeployment()
    const { body } = await strategic(`${path}/status`, { status: { replicas: 2 }, spec: { replicas: 9 } })
    expect({ spec: body['spec'], status: body['status'] }).toMatchObject({ spec: { replicas: 1 }, status: { replicas: 2 } })
  })

  const bad: [title: string, patch: unknown, code: number][] = [
    ['no object', [1], 400],
    ['no JSON', '{', 400],
    ['an unknown directive', { spec: { $patch: 'bogus' } }, 422],
    ['an item without its key', inPod({ containers: [{ image: 'x' }] }), 422],
    ['a value of a wrong type', { spec: { replicas: 'many' } }, 422],
  ]
  test.each(bad)('PATCH-03: %s is refused and changes nothing', async (_title, body, code) => {
    const path = await aDeployment()
    const before = await server.api.get(path)
    const { status, body: answer } = await strategic(path, body)
    expect({ status, kind: answer.kind }).toEqual({ status: code, kind: 'Status' })
    expect((await server.api.get(path)).text).toBe(before.text)
  })
})

describe('a patch whose result is no object of its type', () => {
  const replicas = 'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32'
  const other = 'no kind "Other" is registered for version "apps/v1" in scheme "pkg/runtime/scheme.go:100"'
  const amount = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
  const merge: Type = 'merge-patch'
  test.each<[string, Type, unknown, RegExp, string]>([
    [
      'a value',
      merge,
      { spec: { replicas: 'x' } },
      /"spec":\{"progressDeadlineSeconds":600,"replicas":"x","revisionHistoryLimit":/,
      replicas,
    ],
    [
      'a value',
      'json-patch',
      [{ op: 'replace', path: '/spec/replicas', value: 'x' }],
      /"spec":\{"progressDeadlineSeconds":600,"replicas":"x","revisionHistoryLimit":/,
      replicas,
    ],
    ['a kind', merge, { kind: 'Other' }, /^\{"apiVersion":"apps\/v1","kind":"Other","metadata":\{"name":"d","namespace":/, other],
    ['no kind', merge, { kind: null }, /^\{"apiVersion":"apps\/v1","metadata":/, "Object 'Kind' is missing"],
    ['an amount', merge, inPod({ overhead: { cpu: 'x' } }), /"overhead":\{"cpu":"x"\}/, amount],
  ])('PATCH-01, PATCH-02: by %s is a 422 that shows the result: %s %j', async (_what, type, body, shown, why) => {
    const path = await aDeployment()
    const answer = await patch(type, path, body)
    expect(answer.status).toBe(422)
    const [cause] = (answer.body['details'] as { causes: { field: string; message: string }[] }).causes
    const [, printed = '', reason] = /^Invalid value: ("(?:[^"\\]|\\.)*"): (.*)$/.exec(cause?.message ?? '') ?? []
    expect({ field: cause?.field, reason }).toEqual({ field: 'patch', reason: why })
    expect(JSON.parse(printed)).toMatch(shown)
    expect(answer.body['message']).toBe(` "" is invalid: patch: ${cause?.message}`)
  })

  test('PATCH-02: names the path of the invalid quantity if the object is too large to be shown', async () => {
    const metadata = { annotations: { long: 'x'.repeat(70_000) } }
    const answer = await patch(merge, await aDeployment(), { metadata, ...inPod({ overhead: { cpu: 'x' } }) })
    expect(answer.status).toBe(422)
    expect(answer.body['message']).toMatch(/": spec\.template\.spec\.overhead\.cpu: quantities must match/)
  })
})

describe('patches of every type', () => {
  const nothing: [Type, unknown][] = [
    ['json-patch', []],
    ['merge-patch', {}],
    ['strategic-merge-patch', {}],
  ]
  test.each(nothing)('VERB-09: a %s without a change writes nothing', async (type, body) => {
    const path = await someConfigMaps(server.api, 'a')
    const before = await server.api.get(`${path}/a`)
    expect(await patch(type, `${path}/a`, body)).toMatchObject({ status: 200, text: before.text })
  })

  const changes: [Type, unknown][] = [
    ['json-patch', [{ op: 'add', path: '/data', value: { x: '1' } }]],
    ['merge-patch', { data: { x: '1' } }],
    ['strategic-merge-patch', { data: { x: '1' } }],
  ]
  test.each(changes)('DRY-05, DRY-10: a dry run of a %s shows its result', async (type, body) => {
    const path = await someConfigMaps(server.api, 'a')
    const before = await server.api.get(`${path}/a`)
    const { status, body: shown } = await patch(type, `${path}/a?dryRun=All`, body)
    expect({ status, data: shown['data'], text: (await server.api.get(`${path}/a`)).text }).toEqual({
      status: 200,
      data: { x: '1' },
      text: before.text,
    })
  })

  test.each(changes)('SSA-10, QP-15: the manager of a %s owns its changes', async (type, body) => {
    const path = await someConfigMaps(server.api)
    await created(server.api, path, configMap({ name: 'a', labels: { l: 'v' } }))
    const { body: after } = await patch(type, `${path}/a?fieldManager=me`, body)
    const owners = after.metadata['managedFields'] as { readonly manager: string }[]
    // The entries are ordered by time first, and a new second may have begun between the two.
    expect(owners.toSorted((a, b) => (a.manager < b.manager ? -1 : 1))).toMatchObject([
      { manager: 'me', operation: 'Update', apiVersion: 'v1', fieldsV1: { 'f:data': { '.': {}, 'f:x': {} } } },
      { manager: 'unknown', operation: 'Update', apiVersion: 'v1', fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } } },
    ])
  })

  test.each(changes)('VAL-14, QP-16: unknown fields in a %s cause a warning or a refusal', async (type, body) => {
    const path = await someConfigMaps(server.api, 'a')
    const unknown = Array.isArray(body) ? [{ op: 'add', path: '/nope', value: 1 }] : { nope: 1 }
    const strict = await patch(type, `${path}/a?fieldValidation=Strict`, unknown)
    expect(strict).toMatchObject({ status: 400, body: { message: expect.stringContaining('unknown field "nope"') } })
    const warned = await patch(type, `${path}/a`, unknown)
    expect(warned).toMatchObject({ status: 200, headers: { warning: '299 - "unknown field \\"nope\\""' } })
  })

  test('VAL-10, VAL-13, VAL-14: unknown and duplicate fields of the operations of a JSON patch cause warnings or a refusal', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const body = '[{"op":"add","op":"test","path":"/data","why":1},{"op":"add","path":"/nope","value":{"b":1,"b":2}}]'
    const problems = [
      'json patch duplicate field "[0].op"',
      'json patch unknown field "[0].why"',
      'json patch duplicate field "[1].value.b"',
      'unknown field "nope"',
    ]
    const warned = await patch('json-patch', `${path}/a`, body)
    const warnings = problems.map((text) => `299 - ${JSON.stringify(text)}`)
    expect(warned).toMatchObject({ status: 200, headers: { warning: warnings.join(', ') } })
    const strict = await patch('json-patch', `${path}/a?fieldValidation=Strict`, body)
    expect(strict).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(`strict decoding error: ${problems.join(', ')}`) },
    })
    const ignored = await patch('json-patch', `${path}/a?fieldValidation=Ignore`, body)
    expect(ignored.status).toBe(200)
    expect(ignored.headers).not.toHaveProperty('warning')
  })

  test.each(['true', 'false'])('QP-17: force=%s is for apply only', async (force) => {
    const path = await someConfigMaps(server.api, 'a')
    const message = 'PatchOptions.meta.orch.io "" is invalid: force: Forbidden: may not be specified for non-apply patch'
    expect(await patch('merge-patch', `${path}/a?force=${force}`, {})).toMatchObject({ status: 422, body: { message } })
  })

  test.each(['', '?force=true'])('ERR-18, ERR-19: another media type is a 415, whatever its options: %s', async (query) => {
    const path = await someConfigMaps(server.api, 'a')
    const { status, body } = await server.api.send('PATCH', `${path}/a${query}`, { body: {}, headers: { 'content-type': 'text/plain' } })
    const message = '415: Unsupported Media Type'
    expect({ status, body }).toEqual({ status: 415, body: failure(415, 'UnsupportedMediaType', message, {}) })
  })

  test('VERB-09: a patch with a version conflicts when that version is outdated, and other patches are retried', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { body } = await server.api.get(`${path}/a`)
    const { resourceVersion } = body.metadata
    const exact = await Promise.all(
      ['a', 'b', 'c'].map((key) => patch('merge-patch', `${path}/a`, { metadata: { resourceVersion }, data: { [key]: '1' } })),
    )
    expect(exact.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    const others = await Promise.all(['x', 'y', 'z'].map((key) => strategic(`${path}/a`, { data: { [key]: '1' } })))
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200])
    const { body: after } = await server.api.get(`${path}/a`)
    expect(after['data']).toMatchObject({ x: '1', y: '1', z: '1' })
  })
})
