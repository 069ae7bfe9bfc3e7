import type { ManagedFieldsEntry } from '@orch/core/meta'
import { describe, expect, test } from 'vitest'
import { type Answer, type Api, aNamespace, type Body, configMap, configMapsIn, created, failure, sharedApi } from './api.ts'

// No controller writes to quotas.
const server = sharedApi({ version: '1.25', controllers: ['namespace', 'bootstrap', 'garbage-collector'] })

interface Applying {
  manager?: string
  force?: boolean
  query?: string
}

/** Applies a configuration; sends text unchanged. */
function apply(api: Api, path: string, body: unknown, { manager = 'm1', force = false, query = '' }: Applying = {}): Promise<Answer> {
  const target = `${path}?fieldManager=${manager}${force ? '&force=true' : ''}${query}`
  return api.send('PATCH', target, { body, headers: { 'content-type': 'application/apply-patch+yaml' } })
}

async function aPlace(api: Api, name = 'a'): Promise<{ collection: string; path: string; namespace: string }> {
  const namespace = await aNamespace(api)
  const collection = configMapsIn(namespace)
  return { namespace, collection, path: `${collection}/${name}` }
}

const named = (data: Record<string, string>, metadata: Record<string, unknown> = {}) => configMap({ name: 'a', data, ...metadata })

function ownersOf({ metadata }: Body): ManagedFieldsEntry[] {
  return (metadata['managedFields'] ?? []) as ManagedFieldsEntry[]
}

/** The owners and their fields, without times: `m1 Apply` → fields. */
function ownership(body: Body): Record<string, unknown> {
  return Object.fromEntries(
    ownersOf(body).map(({ manager, operation, subresource, fieldsV1 }) => [
      `${manager} ${operation}${subresource === undefined ? '' : ` ${subresource}`}`,
      fieldsV1,
    ]),
  )
}

const keys = (...names: string[]) => ({ 'f:data': Object.fromEntries(names.map((name) => [`f:${name}`, {}])) })

describe('apply', () => {
  test('SSA-01, SSA-04, SSA-05, VERB-10: creates with 201, and merges later with 200', async () => {
    const { path } = await aPlace(server.api)
    expect((await apply(server.api, path, named({ x: '1' }))).status).toBe(201)
    const { status, body } = await apply(server.api, path, named({ x: '2', y: '3' }))
    expect({ status, data: body['data'] }).toEqual({ status: 200, data: { x: '2', y: '3' } })
  })

  test('SSA-02, NEG-07: accepts YAML and JSON', async () => {
    const { path } = await aPlace(server.api)
    await apply(server.api, path, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: "1"\n')
    const { status, body } = await apply(server.api, path, JSON.stringify(named({ x: '1', y: '2' })))
    expect({ status, data: body['data'] }).toEqual({ status: 200, data: { x: '1', y: '2' } })
  })

  test('MF-01 to MF-06, SSA-07, SSA-65: writes an entry with the fields of its owner', async () => {
    const { path } = await aPlace(server.api)
    const { body } = await apply(server.api, path, named({ x: '1' }))
    expect(ownersOf(body)).toEqual([
      {
        manager: 'm1',
        operation: 'Apply',
        apiVersion: 'v1',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        fieldsType: 'FieldsV1',
        fieldsV1: keys('x'),
      },
    ])
  })

  test('SSA-25: of the same configuration writes nothing', async () => {
    const { path } = await aPlace(server.api)
    const first = await apply(server.api, path, named({ x: '1' }))
    const second = await apply(server.api, path, named({ x: '1' }))
    expect({ status: second.status, text: second.text }).toEqual({ status: 200, text: first.text })
  })

  test('SSA-25: of an equal quantity in another format changes nothing', async () => {
    const namespace = await aNamespace(server.api)
    const path = `/api/v1/namespaces/${namespace}/resourcequotas/q`
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: { cpu: '1000m' } } }
    const first = await apply(server.api, path, quota)
    expect(first.status).toBe(201)
    const second = await apply(server.api, path, quota)
    expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion)
  })

  test('SSA-11, SSA-55: of an equal value shares the field, which stays while one manager applies it', async () => {
    const { path } = await aPlace(server.api)
    await apply(server.api, path, named({ x: '1' }))
    const shared = await apply(server.api, path, named({ x: '1' }), { manager: 'm2' })
    expect(ownership(shared.body)).toEqual({ 'm1 Apply': keys('x'), 'm2 Apply': keys('x') })
    const { body } = await apply(server.api, path, named({}))
    expect(body['data']).toEqual({ x: '1' })
    // An applied empty map counts as a value.
    expect(ownership(body)).toEqual({ 'm1 Apply': { 'f:data': {} }, 'm2 Apply': keys('x') })
  })

  test('SSA-12, SSA-14, ERR-13: of another value conflicts with the owner', async () => {
    const { path } = await aPlace(server.api)
    await apply(server.api, path, named({ x: '1' }))
    const { status, body } = await apply(server.api, path, named({ x: '2' }), { manager: 'm2' })
    const causes = [{ reason: 'FieldManagerConflict', message: 'conflict with "m1"', field: '.data.x' }]
    expect({ status, body }).toEqual({
      status: 409,
      body: failure(409, 'Conflict', 'Apply failed with 1 conflict: conflict with "m1": .data.x', { causes }),
    })
  })

  test('SSA-12: lists all conflicts', async () => {
    const { path, collection } = await aPlace(server.api)
    await created(server.api, `${collection}?fieldManager=maker`, named({ x: '1', y: '1' }))
    const { status, body } = await apply(server.api, path, named({ x: '2', y: '2' }))
    const message = 'Apply failed with 2 conflicts: conflicts with "maker" using v1:\n- .data.x\n- .data.y'
    expect({ status, message: body['message'] }).toEqual({ status: 409, message })
  })

  test('SSA-32: with force takes over the value and the field', async () => {
    const { path } = await aPlace(server.api)
    await apply(server.api, path, named({ x: '1', y: '1' }))
    const { body } = await apply(server.api, path, named({ x: '2' }), { manager: 'm2', force: true })
    expect(body['data']).toEqual({ x: '2', y: '1' })
    expect(ownership(body)).toEqual({ 'm1 Apply': keys('y'), 'm2 Apply': keys('x') })
  })

  test('SSA-13, SSA-20, SSA-23, SSA-24: removes a field that no manager applies any longer', async () => {
    const { path } = await aPlace(server.api)
    await apply(server.api, path, named({ x: '1', y: '2' }))
    const { body } = await apply(server.api, path, named({ x: '1' }))
    expect({ data: body['data'], owners: ownership(body) }).toEqual({ data: { x: '1' }, owners: { 'm1 Apply': keys('x') } })
  })

  test('SSA-26, SSA-21: removes no field that the applier did not apply', async () => {
    const { path, collection } = await aPlace(server.api)
    await created(server.api, `${collection}?fieldManager=maker`, named({ x: '1' }))
    await apply(server.api, path, named({ y: '1' }))
    const { body } = await apply(server.api, path, named({ z: '1' }))
    expect(body['data']).toEqual({ x: '1', z: '1' })
  })

  test('SSA-58: of nothing leaves no entry', async () => {
    const { path } = await aPlace(server.api)
    await apply(server.api, path, named({ x: '1' }))
    await apply(server.api, path, named({ y: '1' }), { manager: 'm2' })
    const { body } = await apply(server.api, path, configMap({ name: 'a' }), { manager: 'm2' })
    expect(ownership(body)).toEqual({ 'm1 Apply': keys('x') })
  })

  test('SSA-22: resets a dropped field to its default', async () => {
    const namespace = await aNamespace(server.api)
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/d`
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const deployment = (spec: object) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: { a: 'b' } }, template, ...spec },
    })
    await apply(server.api, path, deployment({ replicas: 3 }))
    const { body } = await apply(server.api, path, deployment({}))
    expect(body['spec']).toMatchObject({ replicas: 1 })
    expect(ownership(body)).toEqual({
      'm1 Apply': {
        'f:spec': {
          'f:selector': {},
          'f:template': {
            'f:metadata': { 'f:labels': { 'f:a': {} } },
            'f:spec': { 'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:image': {}, 'f:name': {} } } },
          },
        },
      },
    })
  })

  test('SSA-36, SSA-37: owns items of sets and of maps separately', async () => {
    const namespace = await aNamespace(server.api)
    const path = `/api/v1/namespaces/${namespace}/services/s`
    const service = (finalizers: string[], port: number) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's', finalizers },
      spec: { ports: [{ name: `p${port}`, port }] },
    })
    await apply(server.api, path, service(['example.com/a'], 80))
    const { body } = await apply(server.api, path, service(['example.com/b'], 81), { manager: 'm2' })
    expect(body.metadata.finalizers).toEqual(['example.com/a', 'example.com/b'])
    const fields = (letter: string, port: number) => ({
      'f:metadata': { 'f:finalizers': { [`v:"example.com/${letter}"`]: {} } },
      'f:spec': { 'f:ports': { [`k:{"port":${port},"protocol":"TCP"}`]: { '.': {}, 'f:name': {}, 'f:port': {} } } },
    })
    expect(ownership(body)).toEqual({ 'm1 Apply': fields('a', 80), 'm2 Apply': fields('b', 81) })
  })

  test('SSA-66, MF-01: of the status has a separate entry', async () => {
    const namespace = await aNamespace(server.api)
    const path = `/api/v1/namespaces/${namespace}/resourcequotas/q`
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' } }
    await apply(server.api, path, { ...quota, spec: { hard: { pods: '1' } }, status: { used: { pods: '7' } } })
    const { body } = await apply(
      server.api,
      `${path}/status`,
      { ...quota, spec: { hard: { pods: '9' } }, status: { used: { pods: '0' } } },
      { manager: 'm2' },
    )
    expect({ spec: body['spec'], status: body['status'] }).toEqual({ spec: { hard: { pods: '1' } }, status: { used: { pods: '0' } } })
    expect(ownership(body)).toEqual({
      'm1 Apply': { 'f:spec': { 'f:hard': { 'f:pods': {} } } },
      'm2 Apply status': { 'f:status': { 'f:used': { 'f:pods': {} } } },
    })
  })

  test('SSA-04: does not create the status of an absent object', async () => {
    const namespace = await aNamespace(server.api)
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, status: { used: { pods: '0' } } }
    expect((await apply(server.api, `/api/v1/namespaces/${namespace}/resourcequotas/q/status`, quota)).status).toBe(404)
  })

  test('DRY-05, DRY-10: as a dry run merges and stores nothing', async () => {
    const { path } = await aPlace(server.api)
    const making = await apply(server.api, path, named({ x: '1' }), { query: '&dryRun=All' })
    expect({ status: making.status, absent: (await server.api.get(path)).status }).toEqual({ status: 201, absent: 404 })
    const { text } = await apply(server.api, path, named({ x: '1' }))
    const { status, body } = await apply(server.api, path, named({ x: '2' }), { query: '&dryRun=All' })
    expect({ status, data: body['data'], stored: (await server.api.get(path)).text }).toEqual({
      status: 200,
      data: { x: '2' },
      stored: text,
    })
  })

  test('SSA-49, SSA-52, SSA-64: by kubectl takes over from its client-side apply, whose annotation stays current', async () => {
    const { path, collection } = await aPlace(server.api)
    const annotation = 'kubectl.orch.io/last-applied-configuration'
    const before = named({ x: '1' })
    const annotations = { [annotation]: JSON.stringify({ apiVersion: 'v1', data: { x: '1' }, kind: 'ConfigMap', metadata: { name: 'a' } }) }
    await created(server.api, `${collection}?fieldManager=kubectl-client-side-apply`, named({ x: '1' }, { annotations }))
    expect((await apply(server.api, path, named({ x: '2' }), { manager: 'other' })).status).toBe(409)
    const { status, body } = await apply(server.api, path, named({ x: '2' }), { manager: 'kubectl' })
    expect({ status, data: body['data'] }).toEqual({ status: 200, data: { x: '2' } })
    const { [annotation]: text } = body.metadata['annotations'] as Record<string, string>
    expect(JSON.parse(text ?? '')).toEqual({ ...before, data: { x: '2' } })
  })

  test('SSA-50: that takes over conflicts on a field that another tool has changed', async () => {
    const { path, collection } = await aPlace(server.api)
    const annotations = {
      'kubectl.orch.io/last-applied-configuration': JSON.stringify(named({ x: '1' })),
    }
    await created(server.api, `${collection}?fieldManager=kubectl-client-side-apply`, named({ x: '1' }, { annotations }))
    await server.api.patch(`${path}?fieldManager=tool`, { data: { y: '1' } })
    const { body } = await apply(server.api, path, named({ x: '1', y: '2' }), { manager: 'kubectl' })
    expect(body['message']).toBe('Apply failed with 1 conflict: conflict with "tool" using v1: .data.y')
  })

  test('SSA-53: may change its version', async () => {
    const namespace = await aNamespace(server.api)
    const root = (version: string) => `/apis/autoscaling/${version}/namespaces/${namespace}/horizontalpodautoscalers/h`
    const autoscaler = (version: string, maxReplicas: number) => ({
      apiVersion: `autoscaling/${version}`,
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h' },
      spec: { maxReplicas, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
    })
    expect((await apply(server.api, root('v1'), autoscaler('v1', 3))).status).toBe(201)
    const { status, body } = await apply(server.api, root('v2'), autoscaler('v2', 4))
    expect(status).toBe(200)
    expect(ownersOf(body).map(({ manager, apiVersion }) => `${manager} ${apiVersion}`)).toEqual(['m1 autoscaling/v2'])
    const conflict = await apply(server.api, root('v1'), autoscaler('v1', 5), { manager: 'm2' })
    expect(conflict.body['message']).toBe('Apply failed with 1 conflict: conflict with "m1": .spec.maxReplicas')
  })
})

describe('versions of a kind', () => {
  test('SSA-53: an applier that changes to the newer version keeps data of fields that the older version lacks', async () => {
    const namespace = await aNamespace(server.api)
    const root = (version: string) => `/apis/autoscaling/${version}/namespaces/${namespace}/horizontalpodautoscalers`
    const memory = { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '5' } } }
    const spec = { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' }, metrics: [memory] }
    await created(server.api, root('v2'), { metadata: { name: 'h' }, spec: { ...spec, behavior: { scaleDown: { selectPolicy: 'Min' } } } })
    const applying = (version: string, more: object = {}) => ({
      apiVersion: `autoscaling/${version}`,
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h' },
      spec: { maxReplicas: 4, ...more },
    })
    await apply(server.api, `${root('v1')}/h`, applying('v1', { minReplicas: 2 }), { force: true })
    const { status, body } = await apply(server.api, `${root('v2')}/h`, applying('v2'))
    expect(status).toBe(200)
    expect(body['spec']).toMatchObject({
      minReplicas: 1,
      maxReplicas: 4,
      metrics: [memory],
      behavior: { scaleDown: { selectPolicy: 'Min' } },
    })
    expect(body.metadata['annotations']).toBeUndefined()
  })

  test('META-12: an autoscaler that is written back unchanged in the older version is not stored again', async () => {
    const namespace = await aNamespace(server.api)
    const path = `/apis/autoscaling/v1/namespaces/${namespace}/horizontalpodautoscalers`
    await created(server.api, path.replace('/v1/', '/v2/'), {
      metadata: { name: 'h' },
      spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } },
    })
    const shown = (await server.api.get(`${path}/h`)).body
    const { body } = await server.api.send('PUT', `${path}/h`, { body: shown })
    expect(body.metadata.resourceVersion).toBe(shown.metadata.resourceVersion)
  })
})

describe('ownership by subresources', () => {
  const deployment = (spec: object = {}) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      ...spec,
    },
  })
  const replicas = { 'f:spec': { 'f:replicas': {} } }

  async function aDeployment(): Promise<string> {
    const path = `/apis/apps/v1/namespaces/${await aNamespace(server.api)}/deployments/d`
    const { status, text } = await apply(server.api, path, deployment({ replicas: 1 }))
    if (status !== 201) throw new Error(text)
    return path
  }

  test('SSA-66, SSA-15: a writer of the scale owns the replicas', async () => {
    const path = await aDeployment()
    await server.api.patch(`${path}/scale?fieldManager=scaler`, { spec: { replicas: 3 } })
    const { body } = await server.api.get(path)
    expect(ownership(body)).toMatchObject({ 'scaler Update scale': replicas })
    const { status, body: refused } = await apply(server.api, path, deployment({ replicas: 1 }))
    const message = 'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale" using apps/v1: .spec.replicas'
    expect({ status, message: refused['message'] }).toEqual({ status: 409, message })
    expect((await apply(server.api, path, deployment())).body['spec']).toMatchObject({ replicas: 3 })
  })

  test('SSA-66: a scale may be applied', async () => {
    const path = await aDeployment()
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 4 } }
    expect((await apply(server.api, `${path}/scale`, scale, { manager: 'm2' })).status).toBe(409)
    const { status, body } = await apply(server.api, `${path}/scale`, scale, { manager: 'm2', force: true })
    expect({ status, kind: body.kind, spec: body['spec'] }).toEqual({ status: 200, kind: 'Scale', spec: { replicas: 4 } })
    expect(ownership((await server.api.get(path)).body)).toMatchObject({ 'm2 Apply scale': replicas })
    expect((await apply(server.api, `${path}/scale`, { ...scale, kind: 'Deployment' })).status).toBe(400)
    expect((await apply(server.api, `${path}/scale`, { ...scale, nope: 1 })).status).toBe(400)
  })

  test('SSA-28: a Binding adds no owner', async () => {
    const collection = `/api/v1/namespaces/${await aNamespace(server.api)}/pods`
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const made = await created(server.api, `${collection}?fieldManager=maker`, pod)
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }
    expect((await server.api.post(`${collection}/p/binding?fieldManager=binder`, binding)).status).toBe(201)
    const { body } = await server.api.get(`${collection}/p`)
    expect(body).toMatchObject({ spec: { nodeName: 'n' }, metadata: { managedFields: made.metadata['managedFields'] } })
  })
})

describe('a refused apply', () => {
  const unexpected = 'PatchOptions.meta.orch.io "" is invalid: '

  test('SSA-16: has no manager', async () => {
    const { path } = await aPlace(server.api)
    const sending = { body: named({}), headers: { 'content-type': 'application/apply-patch+yaml' } }
    const { status, body } = await server.api.send('PATCH', path, sending)
    expect({ status, message: body['message'] }).toEqual({
      status: 422,
      message: `${unexpected}fieldManager: Required value: is required for apply patch`,
    })
  })

  test('QP-15: has a manager name that is too long', async () => {
    const { path } = await aPlace(server.api)
    const { status, body } = await apply(server.api, path, named({}), { manager: 'm'.repeat(129) })
    expect({ status, message: body['message'] }).toEqual({
      status: 422,
      message: `${unexpected}fieldManager: Too long: must have at most 128 bytes`,
    })
  })

  const rows: [title: string, body: unknown, code: number, message: string | RegExp][] = [
    ['SSA-19: with managedFields, empty even', named({}, { managedFields: [] }), 400, 'metadata.managedFields must be nil'],
    [
      'SSA-53: in a version that is not the path’s',
      { ...named({}), apiVersion: 'v9' },
      400,
      'Incorrect version specified in apply patch. Specified patch version: v9, expected: v1',
    ],
    [
      'SSA-03: without apiVersion and kind',
      { metadata: { name: 'a' } },
      400,
      'Incorrect version specified in apply patch. Specified patch version: , expected: v1',
    ],
    ['SSA-03: with another kind', { ...named({}), kind: 'Secret' }, 400, 'invalid object type: /v1, Kind=Secret'],
    [
      'SSA-03: with a field that the schema has not',
      { ...named({}), nope: 1 },
      400,
      /^failed to create typed patch object .*: \.nope: field not declared in schema$/,
    ],
    [
      'VAL-01: with a value of another type',
      { ...named({}), immutable: 'x' },
      400,
      /^failed to create typed patch object .*: \.immutable: expected boolean/,
    ],
    ['SSA-02: as no YAML', 'a: [', 400, 'error encoding patch: yaml: line 1: did not find expected node content'],
    ['SSA-02: as no object', '[1]', 400, /^error decoding patch: error unmarshaling JSON: .* cannot unmarshal array/],
    ['EP-35: without a body', '', 400, /^Incorrect version specified in apply patch/],
    ['SSA-04: under another name', configMap({ name: 'b' }), 400, 'the name of the object (b) does not match the name on the URL (a)'],
    [
      'SSA-04: under no name where there is none yet',
      configMap({}),
      400,
      'the name of the object (a based on URL) was undeterminable: name must be provided',
    ],
    [
      'SSA-04: in another namespace',
      configMap({ name: 'a', namespace: 'other' }),
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      'SSA-25: for an object that is gone',
      named({}, { uid: 'abc' }),
      409,
      /uid mismatch: the provided object specified uid abc, and no existing object was found$/,
    ],
  ]
  test.each(rows)('%s', async (_title, config, code, message) => {
    const { path } = await aPlace(server.api)
    const { status, body } = await apply(server.api, path, config)
    expect({ status, message: body['message'] }).toEqual({
      status: code,
      message: message instanceof RegExp ? expect.stringMatching(message) : message,
    })
    expect((await server.api.get(path)).status).toBe(404)
  })

  test('SSA-40: has two items with the same key', async () => {
    const namespace = await aNamespace(server.api)
    const ports = [{ port: 80 }, { port: 80 }]
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports } }
    const { status, body } = await apply(server.api, `/api/v1/namespaces/${namespace}/services/s`, service)
    expect({ status, message: body['message'] }).toEqual({
      status: 400,
      message: expect.stringContaining('.spec.ports: duplicate entries for key [port=80,protocol="TCP"]'),
    })
  })

  test('SSA-25: names another version or another uid than the live object', async () => {
    const { path } = await aPlace(server.api)
    const { body } = await apply(server.api, path, named({ x: '1' }))
    const { resourceVersion, uid } = body.metadata
    expect((await apply(server.api, path, named({ x: '2' }, { resourceVersion: '1' }))).status).toBe(409)
    expect((await apply(server.api, path, named({ x: '2' }, { uid: 'abc' }))).status).toBe(409)
    expect((await apply(server.api, path, named({ x: '2' }, { resourceVersion: 'abc' }))).status).toBe(400)
    expect((await apply(server.api, path, named({ x: '2' }, { resourceVersion, uid }))).status).toBe(200)
  })

  test('VAL-08, VAL-09, VAL-12, VAL-13: has duplicate members, which otherwise cause a warning', async () => {
    const { path } = await aPlace(server.api)
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: "1"\n  x: "2"\n  z: "1"\n  z: "2"\n'
    const strict = await apply(server.api, path, yaml, { query: '&fieldValidation=Strict' })
    expect({ status: strict.status, message: strict.body['message'] }).toEqual({
      status: 400,
      message:
        'error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n  line 6: key "x" already set in map\n  line 8: key "z" already set in map',
    })
    const strange = await apply(server.api, path, `${yaml}bogus: 1\n`, { query: '&fieldValidation=Strict' })
    expect(strict.status).toBe(400)
    expect(strange.body['message']).toBe(`${strict.body['message']}, unknown field "bogus"`)
    const warned = await apply(server.api, path, yaml)
    expect({ data: warned.body['data'], warning: warned.headers['warning'] }).toEqual({
      data: { x: '2', z: '2' },
      warning: '299 - "line 6: key \\"x\\" already set in map", 299 - "line 8: key \\"z\\" already set in map"',
    })
    expect((await apply(server.api, path, yaml, { query: '&fieldValidation=Ignore' })).headers['warning']).toBeUndefined()
    const json = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1","x":"2"}}'
    expect((await apply(server.api, path, json)).headers['warning']).toBe('299 - "line 1: key \\"x\\" already set in map"')
  })
})

describe('writes other than apply', () => {
  test('SSA-08, SSA-17, SSA-18: by POST make the client the owner of everything in them', async () => {
    const { collection } = await aPlace(server.api)
    const { body } = await server.api.post(collection, named({ x: '1' }, { labels: { l: 'v' } }), { 'user-agent': 'tool/v1 (linux)' })
    const fieldsV1 = {
      'f:data': { '.': {}, 'f:x': {} },
      'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } },
    }
    expect(ownersOf(body)).toMatchObject([{ manager: 'tool', operation: 'Update', apiVersion: 'v1', fieldsV1 }])
  })

  test('SSA-18: without a manager name are by unknown', async () => {
    const { collection } = await aPlace(server.api)
    expect(ownersOf(await created(server.api, collection, named({ x: '1' })))).toMatchObject([{ manager: 'unknown' }])
  })

  test('SSA-09, SSA-10, SSA-15: by PUT and PATCH own their changes, without force', async () => {
    const { path } = await aPlace(server.api)
    const { body: first } = await apply(server.api, path, named({ x: '1', y: '1', z: '1' }))
    const put = { ...first, data: { x: '2', y: '1', z: '1' } }
    const { body: second } = await server.api.put(`${path}?fieldManager=putter`, put)
    expect(ownership(second)).toEqual({ 'm1 Apply': keys('y', 'z'), 'putter Update': keys('x') })
    const { body: third } = await server.api.patch(`${path}?fieldManager=patcher`, { data: { y: '2', z: null } })
    expect(ownership(third)).toEqual({ 'patcher Update': keys('y'), 'putter Update': keys('x') })
  })

  test('SSA-09: by PUT without a change own and store nothing', async () => {
    const { path } = await aPlace(server.api)
    const first = await apply(server.api, path, named({ x: '1' }))
    expect((await server.api.put(`${path}?fieldManager=other`, first.body)).text).toBe(first.text)
    expect((await server.api.put(`${path}?fieldManager=other`, named({ x: '1' }))).text).toBe(first.text)
  })

  test('SSA-66, SSA-28: of the status are recorded as such', async () => {
    const namespace = await aNamespace(server.api)
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: { pods: '1' } } }
    const collection = `/api/v1/namespaces/${namespace}/resourcequotas`
    await created(server.api, `${collection}?fieldManager=maker`, quota)
    const { body } = await server.api.patch(`${collection}/q/status?fieldManager=counter`, { status: { used: { pods: '0' } } })
    expect(ownership(body)).toEqual({
      'maker Update': { 'f:spec': { 'f:hard': { '.': {}, 'f:pods': {} } } },
      'counter Update status': { 'f:status': { 'f:used': { '.': {}, 'f:pods': {} } } },
    })
  })

  test('do not own fields that the server adds', async () => {
    const name = await aNamespace(server.api)
    const { body } = await server.api.get(`/api/v1/namespaces/${name}`)
    expect(ownership(body)).toEqual({ 'unknown Update': { 'f:metadata': { 'f:labels': { '.': {}, 'f:orch.io/metadata.name': {} } } } })
  })

  test('MF-02: may contain unreadable entries, which are ignored', async () => {
    const { collection, path } = await aPlace(server.api)
    const { body: first } = await apply(server.api, path, named({ x: '1' }))
    const entry = { manager: 'x', operation: 'Bogus', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }
    const { body } = await server.api.put(`${collection}/a`, named({ x: '1' }, { managedFields: [entry] }))
    expect(body.metadata['managedFields']).toEqual(first.metadata['managedFields'])
  })

  test('SSA-07: may contain entries, which replace the earlier ones', async () => {
    const { path } = await aPlace(server.api)
    await apply(server.api, path, named({ x: '1' }))
    const entry = { manager: 'old', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: keys('x') }
    const { body } = await server.api.patch(path, { metadata: { managedFields: [entry] } })
    expect(ownership(body)).toEqual({ 'old Update': keys('x') })
  })

  const resets: [title: string, reset: (api: Api, path: string) => Promise<Answer>][] = [
    ['SSA-59: a merge patch', (api, path) => api.patch(`${path}?fieldManager=me`, { metadata: { managedFields: [{}] }, data: { y: '1' } })],
    [
      'SSA-60: a JSON patch',
      (api, path) =>
        api.patch(`${path}?fieldManager=me`, [
          { op: 'replace', path: '/metadata/managedFields', value: [{}] },
          { op: 'add', path: '/data/y', value: '1' },
        ]),
    ],
    ['SSA-61: an update', (api, path) => api.put(`${path}?fieldManager=me`, named({ x: '1', y: '1' }, { managedFields: [{}] }))],
  ]
  test.each(resets)('%s with one empty entry resets the owners; SSA-63: and then owns its other changes', async (_title, reset) => {
    const { path } = await aPlace(server.api)
    await apply(server.api, path, named({ x: '1' }))
    expect(ownership((await reset(server.api, path)).body)).toEqual({ 'me Update': keys('y') })
  })

  test('SSA-62: with an empty list reset the owners, and with null change nothing', async () => {
    const { path } = await aPlace(server.api)
    const { text } = await apply(server.api, path, named({ x: '1' }))
    expect((await server.api.patch(path, { metadata: { managedFields: null } })).text).toBe(text)
    expect((await server.api.put(path, named({ x: '1' }))).text).toBe(text)
    expect((await server.api.put(path, named({ x: '1' }, { managedFields: [] }))).body.metadata).not.toHaveProperty('managedFields')
  })

  test('SSA-32: of many updaters are merged into one entry, oldest first', async () => {
    const { path, collection } = await aPlace(server.api)
    await created(server.api, `${collection}?fieldManager=u0`, named({ k0: '1' }))
    for (let count = 1; count <= 11; count++) await server.api.patch(`${path}?fieldManager=u${count}`, { data: { [`k${count}`]: '1' } })
    const { body } = await server.api.get(path)
    expect(ownersOf(body)).toHaveLength(10)
    expect(ownership(body)['ancient-changes Update']).toMatchObject({ 'f:data': { 'f:k0': {}, 'f:k1': {} } })
  })

  test('SSA-56: hand a field over: a second applier keeps it when the first drops it', async () => {
    const { path } = await aPlace(server.api)
    await apply(server.api, path, named({ x: '1', y: '1' }))
    await apply(server.api, path, named({ x: '1' }), { manager: 'heir' })
    const { body } = await apply(server.api, path, named({ y: '1' }))
    expect({ data: body['data'], owners: ownership(body) }).toEqual({
      data: { x: '1', y: '1' },
      owners: { 'heir Apply': keys('x'), 'm1 Apply': keys('y') },
    })
  })

  test('are retried after a lost race: none of many appliers is refused', async () => {
    const { path } = await aPlace(server.api)
    await apply(server.api, path, named({ base: '1' }), { manager: 'base' })
    const managers = Array.from({ length: 12 }, (_, index) => `w${index}`)
    const answers = await Promise.all(managers.map((manager) => apply(server.api, path, named({ [manager]: '1' }), { manager })))
    expect(answers.map(({ status }) => status)).toEqual(managers.map(() => 200))
    expect(ownersOf((await server.api.get(path)).body)).toHaveLength(13)
  })
})
