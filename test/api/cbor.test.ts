import { byteFieldsOf, cborToJson, jsonToCbor } from '@orch/core/cbor'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, aName, aNamespace, openApi } from './api.ts'
import { type RawAnswer, sendRaw } from './raw.ts'

const cbor = 'application/cbor'
const selfDescribed = 'd9d9f7'

let api: Api
beforeAll(async () => {
  api = await openApi({ profile: 'kubernetes', featureGates: ['CBORServingAndStorage=true'] })
})
afterAll(() => api.stop())

const encode = (value: unknown, type?: string): Uint8Array =>
  jsonToCbor(Buffer.from(JSON.stringify(value)), type === undefined ? undefined : byteFieldsOf(type))

function objectIn(bytes: Uint8Array): Record<string, unknown> {
  expect(Buffer.from(bytes.subarray(0, 3)).toString('hex')).toBe(selfDescribed)
  const reading = cborToJson(bytes, { valuesMax: 1_000_000 })
  if (reading.kind !== 'json') throw new Error(reading.kind === 'malformed' ? reading.message : reading.kind)
  return JSON.parse(reading.text)
}

const send = (method: string, target: string, body?: Uint8Array, type = cbor, accept = cbor): Promise<RawAnswer> =>
  sendRaw(api, method, target, {
    headers: { accept, ...(body === undefined ? {} : { 'content-type': type }) },
    ...(body === undefined ? {} : { body }),
  })

test('MACH-READ-09: objects are created, replaced, read and listed in CBOR', async () => {
  const namespace = await aNamespace(api)
  const path = `/api/v1/namespaces/${namespace}/secrets`
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: { x: 'aGVsbG8=' } }
  const made = await send('POST', path, encode(secret, 'core/v1.Secret'))
  expect([made.status, made.headers['content-type']]).toEqual([201, cbor])
  expect(objectIn(made.bytes)).toMatchObject({ ...secret, metadata: { name: 'a', namespace }, type: 'Opaque' })
  // CBOR byte strings without a tag contain the same text as the JSON.
  const replaced = await send('PUT', `${path}/a`, encode({ ...secret, data: { x: 'Ynll' } }))
  expect([replaced.status, objectIn(replaced.bytes)['data']]).toEqual([200, { x: 'Ynll' }])
  expect((await api.get(`${path}/a`)).body).toMatchObject({ data: { x: 'Ynll' } })
  const got = await send('GET', `${path}/a`)
  expect(Buffer.from(got.bytes).includes(Buffer.from('d643627965', 'hex'))).toBe(true)
  const listed = await send('GET', path)
  expect([listed.headers['content-type'], objectIn(listed.bytes)]).toMatchObject([
    cbor,
    { kind: 'SecretList', items: [{ data: { x: 'Ynll' } }] },
  ])
  const metadata = await send('GET', path, undefined, cbor, `${cbor};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`)
  expect(objectIn(metadata.bytes)).toMatchObject({ kind: 'PartialObjectMetadataList', items: [{ kind: 'PartialObjectMetadata' }] })
  expect((await send('DELETE', `${path}/a`, encode({ preconditions: { uid: 'other' } }))).status).toBe(409)
})

test('MACH-READ-09: large and small objects of a list in CBOR keep their byte fields', async () => {
  const namespace = await aNamespace(api)
  const path = `/api/v1/namespaces/${namespace}/secrets`
  for (const [name, length] of [
    ['a', 10],
    ['b', 300_000],
    ['c', 20],
  ] as const) {
    await api.post(path, { metadata: { name }, data: { x: Buffer.alloc(length, name).toString('base64') } })
  }
  const { items } = objectIn((await send('GET', path)).bytes)
  const inJson = (await api.get(path)).body.items
  expect(inJson.length).toBe(3)
  expect(items).toEqual(inJson)
  const { items: metadata } = objectIn(
    (await send('GET', path, undefined, cbor, `${cbor};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`)).bytes,
  )
  expect(metadata).toMatchObject(inJson.map(({ metadata }) => ({ metadata })))
})

test('MACH-READ-09: a configuration in CBOR is applied, for a custom kind too', async () => {
  const namespace = await aNamespace(api)
  const group = `${aName('g')}.example.com`
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
  const spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  const versions = [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }]
  const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `things.${group}` } }
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const made = await send('POST', crds, encode({ ...definition, spec: { group, names, scope: 'Namespaced', versions } }))
  expect(made.status).toBe(201)
  const path = `/apis/${group}/v1/namespaces/${namespace}/things`
  await expect.poll(async () => (await api.get(path)).status).toBe(200)
  const thing = {
    apiVersion: `${group}/v1`,
    kind: 'Thing',
    metadata: { name: 'a' },
    spec: { n: 3, f: 1.5, text: 'aGVsbG8=', empty: [], none: {} },
  }
  const applied = await send('PATCH', `${path}/a?fieldManager=me`, encode(thing), 'application/apply-patch+cbor')
  expect(applied.status).toBe(201)
  expect(objectIn(applied.bytes)).toMatchObject({ ...thing, metadata: { managedFields: [{ manager: 'me', operation: 'Apply' }] } })
  expect(Buffer.from(applied.bytes).includes(Buffer.from('48614756736247383d', 'hex'))).toBe(true)
  expect(objectIn((await send('GET', path)).bytes)).toMatchObject({ kind: 'ThingList', items: [thing] })
  const discovery = await send('GET', `/apis/${group}/v1`, undefined, cbor, `${cbor}, */*`)
  expect([discovery.status, discovery.headers['content-type']]).toEqual([200, 'application/json'])
})

test('MACH-READ-09: a watch in CBOR is a sequence of items: state, changes and bookmarks', async () => {
  const namespace = await aNamespace(api)
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const target = `${path}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name!=kube-root-ca.crt`
  const { resourceVersion } = (await api.get(path)).body.metadata
  await api.post(path, { metadata: { name: 'a' }, data: { x: 'y' } })
  const large = 'x'.repeat(200_000)
  await api.post(path, { metadata: { name: 'b' }, data: { large } })
  const added = [
    { type: 'ADDED', object: { kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: 'y' } } },
    { type: 'ADDED', object: { metadata: { name: 'b' }, data: { large } } },
  ]
  const marked = { type: 'BOOKMARK', object: { kind: 'ConfigMap', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } }
  const ofState = await send('GET', `${target}&allowWatchBookmarks=true`)
  expect(ofState.headers['content-type']).toBe('application/cbor-seq')
  expect(itemsIn(ofState.bytes)).toMatchObject([...added, marked])
  expect(itemsIn((await send('GET', `${target}&resourceVersion=${resourceVersion}`)).bytes)).toMatchObject(added)
})

/** The items of a CBOR sequence. Each item and the object in each event begin with the tag of self-described CBOR. */
function itemsIn(bytes: Buffer): unknown[] {
  const items: unknown[] = []
  const front = Buffer.from(`${selfDescribed}a24474797065`, 'hex')
  for (let start = 0; start < bytes.length; ) {
    const next = bytes.indexOf(front, start + 1)
    const end = next < 0 ? bytes.length : next
    items.push(objectIn(bytes.subarray(start, end)))
    start = end
  }
  return items
}

test('MACH-READ-09: errors and discovery are in CBOR, and documents without a CBOR form are a 406', async () => {
  const missing = await send('GET', '/api/v1/namespaces/default/secrets/none')
  expect([missing.status, missing.headers['content-type']]).toEqual([404, cbor])
  expect(objectIn(missing.bytes)).toMatchObject({ kind: 'Status', reason: 'NotFound', code: 404 })
  expect(objectIn((await send('GET', '/apis/apps/v1')).bytes)).toMatchObject({ kind: 'APIResourceList' })
  const aggregated = ';g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const groups = await send('GET', '/apis', undefined, cbor, `${cbor}${aggregated}`)
  expect([groups.headers['content-type'], objectIn(groups.bytes)]).toMatchObject([
    `${cbor}${aggregated}`,
    { kind: 'APIGroupDiscoveryList' },
  ])
  const list = '/api/v1/secrets'
  const types = 'application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor'
  for (const accept of [`${cbor};as=Table;g=meta.k8s.io;v=v1`, 'application/cbor-seq']) {
    const { status, body } = await api.get(list, { accept })
    expect([status, body['message']]).toEqual([406, `only the following media types are accepted: ${types}`])
  }
  const { body } = await api.send('POST', '/api/v1/namespaces/default/secrets', { body: '{}', headers: { 'content-type': 'text/xml' } })
  expect(body['message']).toContain(types)
})

test.each<readonly [string, string, string]>([
  ['is empty', '', 'unable to determine group/version/kind: EOF (<empty>)'],
  ['ends early', '78', 'unable to determine group/version/kind: unexpected EOF (78)'],
  ['is a list', '80', 'unable to determine group/version/kind: cbor: cannot unmarshal array into Go value of type v1.TypeMeta'],
  ['has a member twice', 'a2 4161 4162 4161 4162', 'cbor: found duplicate map key "a"'],
  ['has more behind it', 'a0a0', 'cbor: 1 bytes of extraneous data starting at index 1'],
])('MACH-READ-09: a body that %s is a 400', async (_, hex, message) => {
  const { status, bytes } = await send('POST', '/api/v1/namespaces/default/secrets', Buffer.from(hex.replaceAll(' ', ''), 'hex'))
  expect([status, objectIn(bytes)['message']]).toEqual([400, expect.stringContaining(message)])
})

test('LIM-01: hostile bodies in CBOR are refused in bounded time and memory', async () => {
  const path = '/api/v1/namespaces/default/configmaps'
  const deep = Buffer.alloc(1024 * 1024, 0x81)
  const many = Buffer.concat([Buffer.of(0x9a, 0x00, 0x2f, 0xff, 0xf0), Buffer.alloc(2 * 1024 * 1024, 0xf6)])
  const lengths = Buffer.of(0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x41)
  const codes = await Promise.all([deep, many, lengths].map(async (body) => (await send('POST', path, body)).status))
  expect(codes).toEqual([400, 413, 400])
})
