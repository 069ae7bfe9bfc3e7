import { describe, expect, test } from 'vitest'
import {
  type Answer,
  type Api,
  aName,
  aNamespace,
  anApi,
  type Body,
  configMap,
  configMapsIn,
  created,
  failure,
  namesOfItems,
  sharedApi,
  until,
} from './api.ts'

const server = sharedApi({ version: '1.25', profile: 'kubernetes' })
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const widgetSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', minimum: 0 },
        color: { type: 'string', default: 'red' },
        parts: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, count: { type: 'integer' } } },
        },
        replicas: { type: 'integer' },
      },
    },
    status: { type: 'object', properties: { phase: { type: 'string' }, replicas: { type: 'integer' }, selector: { type: 'string' } } },
  },
}

const widgetVersion = {
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: widgetSchema },
  subresources: {
    status: {},
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.selector' },
  },
  additionalPrinterColumns: [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Color', type: 'string', jsonPath: '.spec.color', priority: 1 },
  ],
  selectableFields: [{ jsonPath: '.spec.color' }],
}

interface Kind {
  readonly group: string
  readonly path: string
  readonly collection: string
  readonly definition: string
}

/** A definition of widgets in a new group, and a namespace for widgets. */
async function widgets(api: Api, spec: object = {}): Promise<Kind> {
  const group = `${aName('g')}.example.com`
  const namespace = await aNamespace(api)
  await created(api, definitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wd'], categories: ['all'] },
      versions: [widgetVersion],
      ...spec,
    },
  })
  const path = `/apis/${group}/v1`
  return { group, path, collection: `${path}/namespaces/${namespace}/widgets`, definition: `${definitions}/widgets.${group}` }
}

interface ManagedFields {
  readonly manager: string
  readonly subresource?: string
  readonly fieldsV1: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const widget = (group: string, name: string, members: object = {}, version = 'v1') => ({
  apiVersion: `${group}/${version}`,
  kind: 'Widget',
  metadata: { name },
  ...members,
})

describe('objects', () => {
  test('CRD-64, CRD-73, CRD-74: are served as soon as their definition is acknowledged', async () => {
    const { group, collection } = await widgets(server.api)
    const made = await created(server.api, collection, widget(group, 'a', { spec: { size: 3, unknown: 1 } }))
    expect(made).toMatchObject({ kind: 'Widget', metadata: { name: 'a', generation: 1 }, spec: { color: 'red', size: 3 } })
    expect(made['spec']).toEqual({ color: 'red', size: 3 })
    expect((await server.api.get(`${collection}/a`)).body).toEqual(made)
    const { body } = await server.api.get(collection)
    expect([body.kind, namesOfItems(body)]).toEqual(['WidgetList', ['a']])
  })

  test('CRD-90: have members in alphabetical order', async () => {
    const { group, collection } = await widgets(server.api)
    const { text } = await server.api.post(collection, widget(group, 'a', { spec: { size: 3, color: 'blue' } }))
    expect(text).toMatch(
      /^\{"apiVersion":.*,"kind":"Widget","metadata":\{"creationTimestamp":.*,"name":"a","namespace":"[^"]*","resourceVersion":"\d+","uid":"[^"]*"\},"spec":\{"color":"blue","size":3\}\}/,
    )
  })

  test('CRD-99: with values of a wrong type are refused', async () => {
    const { group, collection } = await widgets(server.api)
    const { status, body } = await server.api.post(collection, widget(group, 'a', { spec: { size: 'x' } }))
    expect([status, body['message']]).toEqual([
      422,
      `Widget.${group} "a" is invalid: spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`,
    ])
  })

  test('CRD-77: with another version in the body are a 400, with another kind a 422', async () => {
    const { group, collection } = await widgets(server.api)
    const other = await server.api.post(collection, widget(group, 'a', {}, 'v2'))
    expect([other.status, other.body['message']]).toEqual([
      400,
      `the API version in the data (${group}/v2) does not match the expected API version (${group}/v1)`,
    ])
    const kind = await server.api.post(collection, { ...widget(group, 'a'), kind: 'Wid' })
    expect([kind.status, kind.body['message']]).toEqual([422, `Wid.${group} "a" is invalid: kind: Invalid value: "Wid": must be Widget`])
  })

  test('CRD-77: without a kind or a version in the body are a 400', async () => {
    const { group, collection } = await widgets(server.api)
    const { kind, ...withoutKind } = widget(group, 'a')
    const { apiVersion: _apiVersion, ...withoutVersion } = widget(group, 'a')
    await created(server.api, collection, widget(group, 'b'))
    const answers = [
      await server.api.post(collection, {}),
      await server.api.post(collection, withoutKind),
      await server.api.put(`${collection}/b`, withoutKind),
      await server.api.post(collection, withoutVersion),
    ]
    const refusal = `${kind} in version "v1" cannot be handled as a ${kind}: Object`
    expect(answers.map(({ status, body }) => [status, String(body['message']).split("' is missing")[0]])).toEqual([
      [400, `${refusal} 'Kind`],
      [400, `${refusal} 'Kind`],
      [400, `${refusal} 'Kind`],
      [400, `${refusal} 'apiVersion`],
    ])
  })

  test('CRD-83: do not support strategic merge patch: a 415 names the other patch types', async () => {
    const { group, collection } = await widgets(server.api)
    await created(server.api, collection, widget(group, 'a'))
    const headers = { 'content-type': 'application/strategic-merge-patch+json' }
    const answers = await Promise.all(
      ['a', 'a/status', 'a/scale'].map((path) => server.api.send('PATCH', `${collection}/${path}`, { headers, body: {} })),
    )
    const refused = [
      415,
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    ]
    expect(answers.map(({ status, body }) => [status, body['message']])).toEqual([refused, refused, refused])
    const json = await server.api.send('PATCH', `${collection}/a`, { headers: { 'content-type': 'application/json' }, body: {} })
    expect([json.status, json.body['message']]).toEqual(refused)
  })

  test('VERB-01: are read by HEAD, which built-in kinds refuse', async () => {
    const { group, collection } = await widgets(server.api)
    await created(server.api, collection, widget(group, 'a'))
    const statusOf = async (path: string) => (await server.api.send('HEAD', path)).status
    expect([await statusOf(collection), await statusOf(`${collection}/a`), await statusOf(`${collection}/b`)]).toEqual([200, 200, 404])
    expect([await statusOf('/api/v1/namespaces'), await statusOf('/api/v1/namespaces/default')]).toEqual([405, 405])
  })

  test('NEG-09: are a 406 that names the types for an unknown one, and JSON for a family', async () => {
    const { collection } = await widgets(server.api)
    const html = await server.api.send('GET', collection, { headers: { accept: 'text/html' } })
    expect([html.status, html.body['message']]).toEqual([406, expect.stringContaining('only the following media types are accepted')])
    expect((await server.api.send('GET', collection, { headers: { accept: 'application/*' } })).status).toBe(200)
  })

  test('have no undeclared subresource (a 404 of the object), and no other verbs on a subresource (a 405 of the resource)', async () => {
    const { group, collection } = await widgets(server.api)
    await created(server.api, collection, widget(group, 'a'))
    const details = { group, kind: 'widgets' }
    const undeclared = await server.api.get(`${collection}/a/logs`)
    expect(undeclared).toMatchObject({
      status: 404,
      body: failure(404, 'NotFound', `widgets.${group} "a" not found`, { name: 'a', ...details }),
    })
    for (const part of ['status', 'scale']) {
      const { status, body } = await server.api.send('DELETE', `${collection}/a/${part}`)
      const message = `delete is not supported on resources of kind "widgets.${group}"`
      expect([status, body]).toEqual([405, failure(405, 'MethodNotAllowed', message, details)])
    }
  })

  test('NEG-11, NEG-15, CRD-80: are a 406 in Protobuf alone, and use the next type of a list', async () => {
    const { group, collection } = await widgets(server.api)
    await created(server.api, collection, widget(group, 'a'))
    const protobuf = 'application/vnd.kubernetes.protobuf'
    for (const path of [collection, `${collection}/a`]) {
      const alone = await server.api.send('GET', path, { headers: { accept: protobuf } })
      expect(alone.status).toBe(406)
      expect(alone.text).toContain(`only the following media types are accepted: application/json, application/yaml, ${protobuf}`)
      const both = await server.api.send('GET', path, { headers: { accept: `${protobuf}, application/json` } })
      expect([both.status, both.headers['content-type']]).toEqual([200, 'application/json'])
    }
  })

  test('CRD-86: may be patched without a resourceVersion, but a patch may not remove it', async () => {
    const { group, collection } = await widgets(server.api)
    await created(server.api, collection, widget(group, 'a'))
    for (const patch of [
      { metadata: { resourceVersion: null, labels: { a: 'b' } } },
      [{ op: 'remove', path: '/metadata/resourceVersion' }],
      { metadata: { resourceVersion: '0' } },
    ]) {
      const { status, body } = await server.api.patch(`${collection}/a`, patch)
      expect([status, body['message']]).toEqual([
        422,
        expect.stringContaining('metadata.resourceVersion: Invalid value: 0x0: must be specified for an update'),
      ])
    }
    expect((await server.api.patch(`${collection}/a`, { metadata: { labels: { a: 'b' } } })).status).toBe(200)
    const configMaps = `/api/v1/namespaces/${await aNamespace(server.api)}/configmaps`
    await created(server.api, configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
    expect((await server.api.patch(`${configMaps}/a`, { metadata: { resourceVersion: null } })).status).toBe(200)
  })

  test('cause a warning about new finalizers without a path, in a create and in an update', async () => {
    const { group, collection } = await widgets(server.api)
    const warningsOf = ({ headers }: Answer) =>
      [...String(headers['warning'] ?? '').matchAll(/finalizers: \W*([\w.]+)/g)].map(([, name]) => name)
    const made = await server.api.post(collection, widget(group, 'a', { metadata: { name: 'a', finalizers: ['old', 'example.com/x'] } }))
    expect([made.status, warningsOf(made)]).toEqual([201, ['old']])
    const changed = await server.api.patch(`${collection}/a`, { metadata: { finalizers: ['old', 'a.b'] } })
    expect([changed.status, warningsOf(changed)]).toEqual([200, ['a.b']])
    const same = await server.api.patch(`${collection}/a`, { metadata: { labels: { a: 'b' } } })
    expect([same.status, warningsOf(same)]).toEqual([200, []])
    expect((await server.api.patch(`${collection}/a`, { metadata: { finalizers: null } })).status).toBe(200)
  })

  test('CRD-86, CRD-87, CRD-110: need a resourceVersion and an object in a PUT, and count changes of the spec', async () => {
    const { group, collection } = await widgets(server.api)
    const made = await created(server.api, collection, widget(group, 'a', { spec: { size: 1 } }))
    const without = await server.api.put(`${collection}/a`, widget(group, 'a'))
    expect([without.status, without.body['message']]).toEqual([
      422,
      expect.stringContaining('metadata.resourceVersion: Invalid value: 0x0: must be specified for an update'),
    ])
    expect((await server.api.put(`${collection}/b`, widget(group, 'b'))).status).toBe(404)
    const { body } = await server.api.put(`${collection}/a`, { ...made, spec: { size: 2 }, status: { phase: 'x' } })
    expect(body).toMatchObject({ metadata: { generation: 2 }, spec: { size: 2, color: 'red' } })
    expect(body['status']).toBeUndefined()
  })

  test('CRD-109: have a status subresource that writes nothing else', async () => {
    const { group, collection } = await widgets(server.api)
    const made = await created(server.api, collection, widget(group, 'a', { spec: { size: 1 }, status: { phase: 'lost' } }))
    expect(made['status']).toBeUndefined()
    const { body } = await server.api.put(`${collection}/a/status`, {
      ...made,
      metadata: { ...made.metadata, labels: { a: 'b' } },
      spec: { size: 9 },
      status: { phase: 'kept', other: 1 },
    })
    expect(body).toMatchObject({ metadata: { generation: 1 }, spec: { size: 1 }, status: { phase: 'kept' } })
    expect([body.metadata['labels'], body['status']]).toEqual([undefined, { phase: 'kept' }])
  })

  test('CRD-109: lose a status that is absent in the body', async () => {
    const { group, collection } = await widgets(server.api)
    const made = await created(server.api, collection, widget(group, 'a', { spec: { size: 1 } }))
    const path = `${collection}/a/status`
    const withNone = await server.api.put(path, made)
    expect([withNone.status, withNone.body.metadata.resourceVersion]).toEqual([200, made.metadata.resourceVersion])
    expect((await server.api.patch(path, { status: { phase: 'on' } })).body['status']).toEqual({ phase: 'on' })
    const { status: _status, ...rest } = (await server.api.get(path)).body
    const without = await server.api.put(path, rest)
    expect([without.status, without.body['status']]).toEqual([200, undefined])
  })

  test('CRD-111, CRD-113: have a scale that reads and writes the replicas', async () => {
    const { group, collection } = await widgets(server.api)
    await created(server.api, collection, widget(group, 'a', { spec: { size: 1, replicas: 2 } }))
    const { body: scale } = await server.api.get(`${collection}/a/scale`)
    expect(scale).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 2 }, status: { replicas: 0 } })
    const { body } = await server.api.put(`${collection}/a/scale`, { ...scale, spec: { replicas: 5 } })
    expect(body['spec']).toEqual({ replicas: 5 })
    expect((await server.api.get(`${collection}/a`)).body['spec']).toEqual({ color: 'red', replicas: 5, size: 1 })
  })

  test('CRD-114: with an invalid number in the scale are refused by the rules of the object', async () => {
    const { group, collection } = await widgets(server.api)
    await created(server.api, collection, widget(group, 'a', { spec: { replicas: 3 } }))
    const { status, body } = await server.api.patch(`${collection}/a/scale`, { spec: { replicas: -3 } })
    expect([status, body['message']]).toEqual([
      422,
      `Widget.${group} "a" is invalid: .spec.replicas: Invalid value: -3: should be a non-negative integer`,
    ])
  })

  test('CRD-112: without replicas have no scale', async () => {
    const { group, collection } = await widgets(server.api)
    await created(server.api, collection, widget(group, 'a'))
    const { status, body } = await server.api.get(`${collection}/a/scale`)
    expect([status, body['message']]).toEqual([500, 'Internal error occurred: the spec replicas field ".spec.replicas" does not exist'])
  })

  test('CRD-112: get a 400 for a patch of the scale without replicas', async () => {
    const { group, collection } = await widgets(server.api)
    await created(server.api, collection, widget(group, 'a', { spec: { size: 1 } }))
    const path = `${collection}/a/scale`
    const labels = { metadata: { labels: { a: 'b' } } }
    const { status, body } = await server.api.patch(path, labels)
    expect([status, body['message']]).toEqual([400, 'the spec replicas field ".spec.replicas" cannot be empty'])
    expect((await server.api.patch(path, { spec: { replicas: 0 } })).status).toBe(200)
    expect((await server.api.get(`${collection}/a`)).body['spec']).toEqual({ color: 'red', replicas: 0, size: 1 })
    expect((await server.api.patch(path, labels)).status).toBe(200)
  })

  test('get 0 replicas from a scale that is put without replicas, as clients omit a zero', async () => {
    const { group, collection } = await widgets(server.api)
    await created(server.api, collection, widget(group, 'a', { spec: { size: 1 } }))
    const scale = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'a' }, spec: {} }
    expect((await server.api.put(`${collection}/a/scale`, scale)).status).toBe(200)
    expect((await server.api.get(`${collection}/a`)).body['spec']).toEqual({ color: 'red', replicas: 0, size: 1 })
  })

  test('CRD-115: let a write of the scale take over the replicas, and an apply with force', async () => {
    const { group, collection } = await widgets(server.api)
    const apply = (path: string, manager: string, body: object, force = false) =>
      server.api.send('PATCH', `${path}?fieldManager=${manager}&force=${force}`, {
        body,
        headers: { 'content-type': 'application/apply-patch+yaml' },
      })
    const owners = async () => {
      const fields = (await server.api.get(`${collection}/a`)).body.metadata['managedFields'] as ManagedFields[]
      return fields.flatMap(({ manager, subresource, fieldsV1 }) =>
        fieldsV1['f:spec']?.['f:replicas'] === undefined ? [] : [`${manager} ${subresource ?? ''}`.trim()],
      )
    }
    await apply(`${collection}/a`, 'first', widget(group, 'a', { spec: { replicas: 1 } }))
    expect(await owners()).toEqual(['first'])
    const { body: scale } = await server.api.get(`${collection}/a/scale`)
    await server.api.put(`${collection}/a/scale?fieldManager=second`, { ...scale, spec: { replicas: 2 } })
    expect(await owners()).toEqual(['second scale'])
    const wanted = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'a' }, spec: { replicas: 3 } }
    expect((await apply(`${collection}/a/scale`, 'third', wanted)).status).toBe(409)
    expect((await apply(`${collection}/a/scale`, 'third', wanted, true)).status).toBe(200)
    expect(await owners()).toEqual(['third scale'])
  })

  test('CRD-79, READ-17: can be selected by selectable fields, in lists and watches', async () => {
    const api = await anApi({ version: '1.37', profile: 'kubernetes' })
    const { group, collection } = await widgets(api)
    await created(api, collection, widget(group, 'a', { spec: { color: 'blue' } }))
    const red = await created(api, collection, widget(group, 'b', { spec: {} }))
    expect(namesOfItems((await api.get(`${collection}?fieldSelector=spec.color=red`)).body)).toEqual(['b'])
    const watch = await api.watch(`${collection}?watch=1&fieldSelector=spec.color=blue&resourceVersion=${red.metadata.resourceVersion}`)
    await created(api, collection, widget(group, 'c'))
    await created(api, collection, widget(group, 'd', { spec: { color: 'blue' } }))
    expect((await watch.next())?.object.metadata.name).toBe('d')
    const { status, body } = await api.get(`${collection}?fieldSelector=spec.size=1`)
    expect([status, body['message']]).toEqual([400, expect.stringContaining('field label not supported: spec.size')])
  })

  test('CRD-153: have lists that an apply merges by the keys of the schema', async () => {
    const { group, collection } = await widgets(server.api)
    const apply = (manager: string, parts: readonly object[]) =>
      server.api.send('PATCH', `${collection}/a?fieldManager=${manager}`, {
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: widget(group, 'a', { spec: { parts } }),
      })
    expect((await apply('one', [{ name: 'x', count: 1 }])).status).toBe(201)
    const { body } = await apply('two', [{ name: 'y', count: 2 }])
    expect(body['spec']).toMatchObject({
      parts: [
        { name: 'x', count: 1 },
        { name: 'y', count: 2 },
      ],
    })
  })

  test('CRD-88: with unknown fields are refused with their names in strict mode', async () => {
    const { group, collection } = await widgets(server.api)
    const { status, body } = await server.api.post(
      `${collection}?fieldValidation=Strict`,
      widget(group, 'a', { spec: { parts: [{ name: 'x', z: 1 }] } }),
    )
    expect([status, body['message']]).toEqual([400, expect.stringContaining('strict decoding error: unknown field "spec.parts[0].z"')])
  })

  test('CRD-66: are patched, deleted one by one and as a collection', async () => {
    const { group, collection } = await widgets(server.api)
    for (const name of ['a', 'b', 'c']) await created(server.api, collection, widget(group, name))
    const { body } = await server.api.patch(`${collection}/a`, { spec: { size: 7 } })
    expect(body['spec']).toEqual({ color: 'red', size: 7 })
    expect((await server.api.delete(`${collection}/a`)).status).toBe(200)
    expect((await server.api.delete(collection)).status).toBe(200)
    expect(namesOfItems((await server.api.get(collection)).body)).toEqual([])
  })

  test('CRD-118: a Table has the columns of the definition after the name', async () => {
    const { group, collection } = await widgets(server.api)
    await created(server.api, collection, widget(group, 'a', { spec: { size: 3 } }))
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const { body } = await server.api.send('GET', collection, { headers: { accept } })
    const { columnDefinitions, rows } = body as Body & { columnDefinitions: Body[]; rows: { cells: unknown[] }[] }
    expect(columnDefinitions.map(({ name, priority }) => [name, priority])).toEqual([
      ['Name', 0],
      ['Size', 0],
      ['Color', 1],
    ])
    expect(rows.map(({ cells }) => cells)).toEqual([['a', 3, 'red']])
    const watch = await server.api.watch(`${collection}?watch=1`, { accept })
    expect((await watch.next())?.object).toMatchObject({ kind: 'Table', rows: [{ cells: ['a', 3, 'red'] }] })
    await created(server.api, collection, widget(group, 'b', { spec: {} }))
    expect((await watch.next())?.object).toMatchObject({ kind: 'Table', rows: [{ cells: ['b', null, 'red'] }] })
  })

  test('CRD-81: are served as metadata in JSON and in Protobuf', async () => {
    const { group, collection } = await widgets(server.api)
    await created(server.api, collection, widget(group, 'a'))
    const json = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
    expect((await server.api.send('GET', collection, { headers: { accept: json } })).body).toMatchObject({
      kind: 'PartialObjectMetadataList',
      items: [{ metadata: { name: 'a' } }],
    })
    const protobuf = json.replace('application/json', 'application/vnd.kubernetes.protobuf')
    expect((await server.api.send('GET', collection, { headers: { accept: protobuf } })).status).toBe(200)
  })
})

describe('versions', () => {
  const second = {
    ...widgetVersion,
    name: 'v2',
    storage: false,
    selectableFields: undefined,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } } },
  }

  test('CRD-123, CRD-125: of a definition without conversion show the fields of their schemas', async () => {
    const { group, collection } = await widgets(server.api, { versions: [widgetVersion, second] })
    const inSecond = collection.replace('/v1/', '/v2/')
    const watch = await server.api.watch(`${inSecond}?watch=1`)
    const made = await created(server.api, collection, widget(group, 'a', { spec: { size: 1 } }))
    const shown = { ...made, apiVersion: `${group}/v2`, spec: { size: 1 } }
    expect((await server.api.get(`${inSecond}/a`)).body).toEqual(shown)
    expect((await server.api.get(inSecond)).body.items).toEqual([shown])
    expect((await watch.next())?.object).toEqual(shown)
  })

  test('CRD-98: with defaults in a new schema show them in existing objects', async () => {
    const { group, collection, definition } = await widgets(server.api)
    await created(server.api, collection, widget(group, 'a', { spec: { size: 1 } }))
    const patch = [
      {
        op: 'add',
        path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/extra',
        value: { type: 'string', default: 'more' },
      },
    ]
    const headers = { 'content-type': 'application/json-patch+json' }
    expect((await server.api.send('PATCH', definition, { headers, body: patch })).status).toBe(200)
    expect((await server.api.get(`${collection}/a`)).body['spec']).toEqual({ color: 'red', extra: 'more', size: 1 })
    expect((await server.api.get(collection)).body.items[0]?.['spec']).toEqual({ color: 'red', extra: 'more', size: 1 })
  })

  test('CRD-75: that are deprecated cause a warning', async () => {
    const { collection } = await widgets(server.api, { versions: [{ ...widgetVersion, deprecated: true }] })
    const { headers } = await server.api.get(collection)
    expect(headers['warning']).toMatch(/^299 - "g-\d+\.example\.com\/v1 Widget is deprecated"$/)
  })
})

describe('watches of custom objects', () => {
  test('CRD-72: end with a change of the spec, and continue with a change of labels', async () => {
    const { group, collection, definition } = await widgets(server.api)
    const watch = await server.api.watch(`${collection}?watch=1`)
    await server.api.patch(definition, { metadata: { labels: { a: 'b' } } })
    await created(server.api, collection, widget(group, 'a'))
    expect((await watch.next())?.object.metadata.name).toBe('a')
    await server.api.patch(definition, { spec: { names: { shortNames: ['wx'] } } })
    expect(await watch.next()).toBeUndefined()
  })

  test('MACH-DEL-04, CRD-67, CRD-142: see the deletion of objects with their definition, and no creation', async () => {
    const { group, collection, definition } = await widgets(server.api)
    const metadata = { name: 'a', finalizers: ['example.com/held'] }
    await created(server.api, collection, { ...widget(group, 'a'), metadata })
    await server.api.delete(definition)
    const message = 'create not allowed while custom resource definition is terminating'
    const refused = { status: 405, body: { reason: 'MethodNotAllowed', message, details: { group, kind: 'widgets' } } }
    // The server checks this before it checks the contents.
    expect(await server.api.post(collection, widget(group, 'b', { spec: { size: -1 } }))).toMatchObject(refused)
    const applied = { body: widget(group, 'b'), headers: { 'content-type': 'application/apply-patch+yaml' } }
    const message403 = `widgets.${group} "b" is forbidden: ${message}`
    expect(await server.api.send('PATCH', `${collection}/b?fieldManager=m`, applied)).toMatchObject({
      status: 403,
      body: { reason: 'Forbidden', message: message403 },
    })
    expect(namesOfItems((await server.api.get(collection)).body)).toEqual(['a'])
  })
})

describe('discovery', () => {
  test('CRD-67, CRD-68: lists the resource with its names, and its subresources', async () => {
    const { path, group } = await widgets(server.api)
    const { body } = await server.api.get(path)
    const { resources } = body as Body & { resources: Record<string, unknown>[] }
    expect(resources).toEqual([
      {
        name: 'widgets',
        singularName: 'widget',
        namespaced: true,
        kind: 'Widget',
        verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
        shortNames: ['wd'],
        categories: ['all'],
        storageVersionHash: expect.any(String),
      },
      { name: 'widgets/status', singularName: '', namespaced: true, kind: 'Widget', verbs: ['get', 'patch', 'update'] },
      {
        name: 'widgets/scale',
        singularName: '',
        namespaced: true,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: ['get', 'patch', 'update'],
      },
    ])
    const groups = (await server.api.get('/apis')).body as Body & { groups: { name: string }[] }
    expect(groups.groups.map(({ name }) => name)).toContain(group)
  })

  test('CRD-71: the resources of a deleted definition are removed', async () => {
    const { path, group, definition, collection } = await widgets(server.api)
    await server.api.delete(definition)
    await expect.poll(async () => (await server.api.get(collection)).status).toBe(404)
    expect((await server.api.get(path)).status).toBe(404)
    const groups = (await server.api.get('/apis')).body as Body & { groups: { name: string }[] }
    expect(groups.groups.map(({ name }) => name)).not.toContain(group)
  })
})

describe('OpenAPI', () => {
  type Document = Body & {
    definitions: Record<string, Body>
    paths: Record<string, unknown>
    components: { schemas: Record<string, Body> }
  }

  test('CRD-149: version 3 has a document for each group version, with the kind, its list and its paths', async () => {
    const { group, path } = await widgets(server.api)
    const index = (await server.api.get('/openapi/v3')).body as Body & { paths: Record<string, { serverRelativeURL: string }> }
    const url = index.paths[`apis/${group}/v1`]?.serverRelativeURL ?? ''
    const { components, paths } = (await server.api.get(url)).body as Document
    const name = `com.example.${group.split('.')[0]}.v1.Widget`
    expect(components.schemas[name]).toMatchObject({
      'x-kubernetes-group-version-kind': [{ group, kind: 'Widget', version: 'v1' }],
      properties: {
        metadata: { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }] },
        spec: { properties: { parts: { 'x-kubernetes-list-type': 'map' }, color: { default: 'red' } } },
      },
    })
    expect(components.schemas[`${name}List`]).toMatchObject({ required: ['items'] })
    expect(Object.keys(paths)).toEqual(expect.arrayContaining([`${path}/namespaces/{namespace}/widgets/{name}/scale`]))
    // kubectl sends the listed patches.
    const { patch } = paths[`${path}/namespaces/{namespace}/widgets/{name}`] as { patch: { requestBody: { content: object } } }
    expect(Object.keys(patch.requestBody.content)).toEqual([
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/apply-patch+yaml',
    ])
  })

  test('CRD-149, CRD-150: version 3 has the whole schema, and version 2 the part that its clients accept', async () => {
    const api = await anApi({ version: '1.37', profile: 'kubernetes' })
    const spec = {
      type: 'object',
      required: ['gone', 'kept'],
      properties: {
        port: { 'x-kubernetes-int-or-string': true },
        gone: { type: 'string', nullable: true },
        kept: { type: 'string', oneOf: [{ pattern: '^a' }, { maxLength: 3 }] },
        open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
        template: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } },
        color: { type: 'string', default: 'red' },
      },
    }
    const openAPIV3Schema = { type: 'object', description: 'What widgets are.', properties: { spec } }
    const { group, path } = await widgets(api, { versions: [{ ...widgetVersion, schema: { openAPIV3Schema } }] })
    const name = `com.example.${group.split('.')[0]}.v1.Widget`
    const { components } = (await api.get(`/openapi/v3${path}`)).body as Document
    const { definitions } = (await api.get('/openapi/v2')).body as Document
    const shared = {
      description: 'What widgets are.',
      'x-kubernetes-group-version-kind': [{ group, kind: 'Widget', version: 'v1' }],
      'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.color' }],
    }
    expect(components.schemas[name]).toMatchObject(shared)
    expect(definitions[name]).toMatchObject(shared)
    const ofList = { 'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.color' }] }
    expect([components.schemas[`${name}List`], definitions[`${name}List`]]).toMatchObject([ofList, ofList])
    const specIn = (known: Record<string, Body>) => (known[name]?.['properties'] as Record<string, Body> | undefined)?.['spec']
    const text = expect.objectContaining({ type: 'string' })
    const template = (metadata: object) => ({
      ...spec.properties.template,
      required: ['kind', 'apiVersion'],
      properties: { apiVersion: text, kind: text, metadata: expect.objectContaining(metadata), spec: { type: 'object' } },
    })
    expect(specIn(components.schemas)).toEqual({
      ...spec,
      properties: {
        ...spec.properties,
        port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        template: template({ allOf: [{ $ref: expect.stringMatching(/^#\/components\/schemas\/.*ObjectMeta$/) }] }),
      },
    })
    expect(specIn(definitions)).toEqual({
      type: 'object',
      required: ['kept'],
      properties: {
        port: { 'x-kubernetes-int-or-string': true },
        gone: {},
        kept: { type: 'string' },
        open: { 'x-kubernetes-preserve-unknown-fields': true },
        template: template({ $ref: expect.stringMatching(/^#\/definitions\/.*ObjectMeta$/) }),
        color: { type: 'string', default: 'red' },
      },
    })
    const list = { items: expect.objectContaining({ items: { $ref: `#/definitions/${name}` } }) }
    expect(definitions[`${name}List`]).toMatchObject({ type: 'object', required: ['items'], properties: list })
  })

  test('CRD-149, CRD-151: version 2 has the kinds in one document, until their definition is deleted', async () => {
    const { group, path, definition } = await widgets(server.api)
    const name = `com.example.${group.split('.')[0]}.v1.Widget`
    const { body, headers } = await server.api.get('/openapi/v2')
    const { definitions: known, paths } = body as Document
    expect(known[name]).toMatchObject({ properties: { spec: { properties: { size: { type: 'integer' } } } } })
    expect(known['io.k8s.api.core.v1.Pod']).toBeDefined()
    expect(paths[`${path}/namespaces/{namespace}/widgets`]).toBeDefined()
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
    expect((await server.api.get('/openapi/v2', { accept })).text).toContain(name)
    await server.api.delete(definition)
    await expect.poll(async () => ((await server.api.get('/openapi/v2')).body as Document).definitions[name]).toBeUndefined()
    expect((await server.api.get('/openapi/v2')).headers['etag']).not.toBe(headers['etag'])
  })
})

describe('other parts of the server', () => {
  const ownedBy = ({ apiVersion, kind, metadata: { name, uid } }: Body) => [{ apiVersion, kind, name, uid }]

  test('CRD-154: delete custom objects with their owners, and delete their dependants', async () => {
    const { group, collection } = await widgets(server.api)
    const configMaps = configMapsIn(collection.split('/')[5] ?? '')
    const owner = await created(server.api, configMaps, configMap({ name: 'owner' }))
    const metadata = { name: 'a', ownerReferences: ownedBy(owner) }
    const middle = await created(server.api, collection, { ...widget(group, 'a'), metadata })
    await created(server.api, configMaps, configMap({ name: 'last', ownerReferences: ownedBy(middle) }))
    await server.api.delete(`${configMaps}/owner`)
    await until(
      () => server.api.get(`${configMaps}/last`),
      ({ status }) => status === 404,
    )
    expect((await server.api.get(`${collection}/a`)).status).toBe(404)
  })

  test('CRD-154: count custom objects in a quota', async () => {
    const { group, collection } = await widgets(server.api)
    const namespace = collection.split('/')[5] ?? ''
    await created(server.api, `/api/v1/namespaces/${namespace}/resourcequotas`, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q' },
      spec: { hard: { [`count/widgets.${group}`]: '1' } },
    })
    const used = ({ body }: { body: Body }) => (body['status'] as { used?: Record<string, string> } | undefined)?.used
    await until(
      () => server.api.get(`/api/v1/namespaces/${namespace}/resourcequotas/q`),
      (answer) => used(answer)?.[`count/widgets.${group}`] === '0',
    )
    await created(server.api, collection, widget(group, 'a'))
    const { status, body } = await server.api.post(collection, widget(group, 'b'))
    expect([status, body['message']]).toEqual([403, expect.stringContaining(`exceeded quota: q, requested: count/widgets.${group}=1`)])
  })

  test('CRD-155: delete custom objects with their namespace', async () => {
    const { group, collection } = await widgets(server.api)
    const namespace = collection.split('/')[5] ?? ''
    await created(server.api, collection, widget(group, 'a'))
    await server.api.delete(`/api/v1/namespaces/${namespace}`)
    await until(
      () => server.api.get(`/api/v1/namespaces/${namespace}`),
      ({ status }) => status === 404,
    )
    expect(namesOfItems((await server.api.get(collection)).body)).toEqual([])
  })

  test('CRD-78: accept no new custom objects in a namespace under deletion', async () => {
    const { group, collection } = await widgets(server.api)
    const namespace = collection.split('/')[5] ?? ''
    const configMaps = configMapsIn(namespace)
    await created(server.api, configMaps, configMap({ name: 'holds', finalizers: ['example.com/held'] }))
    await server.api.delete(`/api/v1/namespaces/${namespace}`)
    const { status, body } = await server.api.post(collection, widget(group, 'a'))
    expect([status, body['message']]).toEqual([403, expect.stringContaining(`because it is being terminated`)])
  })
})

test('CRD-74: definitions of the other profile have the group of its domain', async () => {
  const api = await anApi({ version: '1.25', profile: 'orch' })
  const group = 'widgets.example.com'
  await created(api, '/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: { group, scope: 'Cluster', names: { plural: 'widgets', kind: 'Widget' }, versions: [widgetVersion] },
  })
  const made = await created(api, `/apis/${group}/v1/widgets`, widget(group, 'a', { spec: {} }))
  expect(made['spec']).toEqual({ color: 'red' })
  const { components } = (await api.get(`/openapi/v3/apis/${group}/v1`)).body as Body & { components: { schemas: Record<string, Body> } }
  expect(components.schemas['com.example.widgets.v1.Widget']).toMatchObject({
    properties: { metadata: { allOf: [{ $ref: expect.stringContaining('io.orch') }] } },
  })
})
