import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { aName, aNamespace, type Body, configMap, created, sharedApi, someConfigMaps } from './api.ts'
import { envelopeOf, readEnvelope, readFrames, sendRaw, wireField, wireFields, wireMessage } from './raw.ts'

// Objects must read as the test wrote them, and the namespace must be empty. Controllers would add a condition to a FlowSchema without a level, and a
// count to a quota.
const server = sharedApi({
  version: '1.25',
  controllers: ['*', '-flow-control', '-resourcequota', '-serviceaccount', '-root-ca-cert-publisher', '-validatingadmissionpolicy-status'],
})

/** A server at a level with initial events of watches. */
const today = sharedApi({ version: '1.36' })

/** Reads the same list again. Controllers write meanwhile, and each write changes the store's revision. */
const atVersionOf = ({ metadata }: Body, path: string) => `${path}?resourceVersionMatch=Exact&resourceVersion=${metadata.resourceVersion}`

const protobuf = 'application/vnd.orch.protobuf'
const table = 'application/json;as=Table;v=v1;g=meta.orch.io'
const tableBeta = 'application/json;as=Table;v=v1beta1;g=meta.orch.io'
/** The Accept header of `kubectl get`. */
const kubectlTable = `${table},${tableBeta},application/json`
const metadataOnly = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.orch.io'
const metadataList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.orch.io'

/** The message of a ConfigMap, built from field numbers alone. */
const configMapMessage = (name: string, data: Record<string, string>) =>
  wireMessage([1, wireMessage([1, name])], ...Object.entries(data).map(([key, value]) => [2, wireMessage([1, key], [2, value])] as const))

interface Shown {
  kind: string
  apiVersion: string
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number }
  columnDefinitions: { name: string; type: string; format: string; description: string; priority: number }[] | null
  rows: { cells: unknown[]; object: { kind: string; apiVersion: string; metadata: { name: string } } | null }[]
}

async function tableOf(target: string, accept = table): Promise<Shown> {
  const { status, text, headers } = await server.api.get(target, { accept })
  expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/json' })
  return JSON.parse(text) as Shown
}

describe('answers in Protobuf', () => {
  test('NEG-03, PROTO-01…08: have an object in an envelope, its message in field 2', async () => {
    const path = await someConfigMaps(server.api)
    const made = await created(server.api, path, configMap({ name: 'a', labels: { x: 'y' }, data: { one: '1', two: 'zwei' } }))
    const { status, headers, bytes } = await sendRaw(server.api, 'GET', `${path}/a`, { headers: { accept: protobuf } })
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: protobuf })
    const { apiVersion, kind, message } = readEnvelope(bytes)
    expect({ apiVersion, kind }).toEqual({ apiVersion: 'v1', kind: 'ConfigMap' })
    const metadata = wireField(message, 1)
    expect([1, 3, 5, 6].map((field) => wireField(metadata, field).toString())).toEqual([
      'a',
      made.metadata.namespace,
      made.metadata.uid,
      made.metadata.resourceVersion,
    ])
    const data = (wireFields(message).get(2) ?? []).map((entry) => [wireField(entry as Buffer, 1), wireField(entry as Buffer, 2)].join('='))
    expect(data).toEqual(['one=1', 'two=zwei'])
  })

  test('NEG-03: have list metadata in field 1 and items in field 2, the second time too', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b', 'c')
    const first = await sendRaw(server.api, 'GET', `${path}?limit=2`, { headers: { accept: `${protobuf},application/json` } })
    const second = await sendRaw(server.api, 'GET', `${path}?limit=2`, { headers: { accept: `${protobuf},application/json` } })
    expect(second.bytes.equals(first.bytes)).toBe(true)
    const { kind, message } = readEnvelope(first.bytes)
    expect(kind).toBe('ConfigMapList')
    expect((wireFields(message).get(2) ?? []).map((item) => wireField(item as Buffer, 1, 1).toString())).toEqual(['a', 'b'])
    const listMeta = wireFields(wireField(message, 1))
    expect(listMeta.get(4)).toEqual([1n])
    const next = encodeURIComponent(String(listMeta.get(3)?.[0]))
    const rest = await sendRaw(server.api, 'GET', `${path}?limit=2&continue=${next}`, { headers: { accept: protobuf } })
    expect((wireFields(readEnvelope(rest.bytes).message).get(2) ?? []).map((item) => wireField(item as Buffer, 1, 1).toString())).toEqual([
      'c',
    ])
  })

  test('NEG-03: do not come from the cache once an object has changed', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const texts = []
    for (const text of ['one', 'two']) {
      await server.api.patch(`${path}/a`, { data: { text } })
      const { bytes } = await sendRaw(server.api, 'GET', path, { headers: { accept: protobuf } })
      texts.push(wireField(readEnvelope(bytes).message, 2, 2, 2).toString())
    }
    expect(texts).toEqual(['one', 'two'])
  })

  test('ERR-18: include a Status in the requested format', async () => {
    const path = await someConfigMaps(server.api)
    const { status, headers, bytes } = await sendRaw(server.api, 'GET', `${path}/none`, { headers: { accept: protobuf } })
    expect({ status, type: headers['content-type'] }).toEqual({ status: 404, type: protobuf })
    const { kind, apiVersion, message } = readEnvelope(bytes)
    expect({ kind, apiVersion }).toEqual({ kind: 'Status', apiVersion: 'v1' })
    expect([2, 3, 4].map((field) => wireField(message, field).toString())).toEqual(['Failure', 'configmaps "none" not found', 'NotFound'])
    expect(wireFields(message).get(6)).toEqual([404n])
  })

  test('NEG-08: are compressed if they are large and the client accepts it', async () => {
    const path = await someConfigMaps(server.api)
    await created(server.api, path, configMap({ name: 'large', data: { text: 'x'.repeat(200_000) } }))
    const headers = { accept: protobuf, 'accept-encoding': 'gzip' }
    for (const target of [path, `${path}/large`]) {
      const { headers: given, bytes } = await sendRaw(server.api, 'GET', target, { headers })
      expect(given['content-encoding']).toBe('gzip')
      expect(readEnvelope(gunzipSync(bytes)).apiVersion).toBe('v1')
    }
  })

  test('NEG-03: include discovery', async () => {
    for (const [target, kind] of [
      ['/api', 'APIVersions'],
      ['/apis', 'APIGroupList'],
      ['/apis/apps', 'APIGroup'],
      ['/api/v1', 'APIResourceList'],
    ] as const) {
      const { bytes } = await sendRaw(server.api, 'GET', target, { headers: { accept: protobuf } })
      expect(readEnvelope(bytes).kind).toBe(kind)
    }
  })

  test('NEG-09: exclude a Table', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const accept = `${protobuf};as=Table;v=v1;g=meta.orch.io`
    expect((await server.api.get(path, { accept })).status).toBe(406)
    expect((await tableOf(path, `${accept},${table}`)).kind).toBe('Table')
  })
})

describe('requests in Protobuf', () => {
  test('NEG-04, NEG-05: may be answered in another format than the body of a POST', async () => {
    const path = await someConfigMaps(server.api)
    const body = envelopeOf('v1', 'ConfigMap', configMapMessage('a', { one: '1' }))
    const { status, headers, bytes } = await sendRaw(server.api, 'POST', path, { headers: { 'content-type': protobuf }, body })
    expect({ status, type: headers['content-type'] }).toEqual({ status: 201, type: 'application/json' })
    expect(JSON.parse(bytes.toString())).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { one: '1' } })
  })

  test('NEG-04: work for a client that supports only Protobuf', async () => {
    const path = await someConfigMaps(server.api)
    const headers = { 'content-type': protobuf, accept: `${protobuf},application/json` }
    const body = envelopeOf('v1', 'ConfigMap', configMapMessage('a', { one: '1' }))
    const made = await sendRaw(server.api, 'POST', path, { headers, body })
    expect([made.status, wireField(readEnvelope(made.bytes).message, 2, 2).toString()]).toEqual([201, '1'])
    const put = await sendRaw(server.api, 'PUT', `${path}/a`, {
      headers,
      body: envelopeOf('v1', 'ConfigMap', configMapMessage('a', { one: '2' })),
    })
    expect([put.status, wireField(readEnvelope(put.bytes).message, 2, 2).toString()]).toEqual([200, '2'])
    const gone = await sendRaw(server.api, 'DELETE', `${path}/a`, {
      headers,
      body: envelopeOf('v1', 'DeleteOptions', wireMessage([4, 'Background'])),
    })
    expect([gone.status, readEnvelope(gone.bytes).kind]).toEqual([200, 'Status'])
  })

  test('DEL-01: include preconditions of DeleteOptions', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const body = envelopeOf('v1', 'DeleteOptions', wireMessage([2, wireMessage([1, 'another-uid'])]))
    expect((await sendRaw(server.api, 'DELETE', `${path}/a`, { headers: { 'content-type': protobuf }, body })).status).toBe(409)
  })

  test('NEG-04: include a permission check', async () => {
    const attributes = wireMessage([1, 'default'], [2, 'get'], [5, 'pods'])
    const body = envelopeOf('authorization.orch.io/v1', 'SelfSubjectAccessReview', wireMessage([2, wireMessage([1, attributes])]))
    const target = '/apis/authorization.orch.io/v1/selfsubjectaccessreviews'
    const answer = await sendRaw(server.api, 'POST', target, { headers: { 'content-type': protobuf, accept: protobuf }, body })
    expect(answer.status).toBe(201)
    expect(wireFields(wireField(readEnvelope(answer.bytes).message, 3)).get(1)).toEqual([1n])
  })

  test.each([
    ['no envelope', Buffer.from('{"kind":"ConfigMap"}')],
    ['nothing', Buffer.alloc(0)],
    ['half a message', envelopeOf('v1', 'ConfigMap', Buffer.from([0x0a, 0x7f, 0x01]))],
    ['another kind', envelopeOf('v1', 'Secret', wireMessage([1, wireMessage([1, 'a'])]))],
    ['another version', envelopeOf('v2', 'ConfigMap', wireMessage([1, wireMessage([1, 'a'])]))],
  ])('ERR-04, NEG-04: %s is a 400', async (_what, body) => {
    const path = await someConfigMaps(server.api)
    const { status, bytes } = await sendRaw(server.api, 'POST', path, { headers: { 'content-type': protobuf }, body })
    expect([status, JSON.parse(bytes.toString()).reason]).toEqual([400, 'BadRequest'])
  })

  test('NEG-04, ERR-18: of another type are a 415 that names the accepted types', async () => {
    const path = await someConfigMaps(server.api)
    const { status, body } = await server.api.post(path, 'x', { 'content-type': 'application/vnd.kubernetes.protobuf' })
    expect(status).toBe(415)
    expect(body['message']).toBe(
      `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, ${protobuf}`,
    )
  })
})

test('PROTO-09: whole numbers beyond 2^53 stay exact in every format', async () => {
  const path = `/apis/apps/v1/namespaces/${await aNamespace(server.api)}/controllerrevisions`
  for (const revision of ['9223372036854775807', '9007199254740993']) {
    const name = aName('revision')
    const text = `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"${name}"},"data":{"n":${revision}},"revision":${revision}}`
    expect((await server.api.post(path, text)).status).toBe(201)
    const { bytes } = await sendRaw(server.api, 'GET', `${path}/${name}`, { headers: { accept: protobuf } })
    expect(wireFields(readEnvelope(bytes).message).get(3)).toEqual([BigInt(revision)])
    await server.api.delete(`${path}/${name}`)
    const made = await sendRaw(server.api, 'POST', path, { headers: { 'content-type': protobuf }, body: withoutServerFields(bytes, name) })
    expect([made.status, made.bytes.toString()]).toEqual([201, expect.stringContaining(`"revision":${revision}`)])
    expect(made.bytes.toString()).toContain(`"data":{"n":${revision}}`)
  }
})

/** The object's own fields and a metadata that has only the name. A ControllerRevision's data is field 2 and its revision field 3. */
function withoutServerFields(bytes: Buffer, name: string): Buffer {
  const { message } = readEnvelope(bytes)
  const metadataEnd = message.indexOf(wireField(message, 1)) + wireField(message, 1).length
  return envelopeOf(
    'apps/v1',
    'ControllerRevision',
    Buffer.concat([wireMessage([1, wireMessage([1, name])]), message.subarray(metadataEnd)]),
  )
}

describe('Table', () => {
  test('TABLE-01, TABLE-02, TABLE-03, NEG-06: contains a list', async () => {
    const path = await someConfigMaps(server.api)
    await created(server.api, path, configMap({ name: 'a', data: { x: '1', y: '2' } }))
    const { body: plain } = await server.api.get(path)
    const shown = await tableOf(atVersionOf(plain, path), kubectlTable)
    expect(shown).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.orch.io/v1',
      metadata: { resourceVersion: plain.metadata.resourceVersion },
    })
    expect(shown.columnDefinitions?.map(({ name, type, format, priority }) => [name, type, format, priority])).toEqual([
      ['Name', 'string', 'name', 0],
      ['Data', 'string', '', 0],
      ['Age', 'string', '', 0],
    ])
    expect(shown.rows.map(({ cells }) => cells)).toEqual([['a', 2, expect.stringMatching(/^\d+s$/)]])
    expect(shown.rows[0]?.object).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.orch.io/v1',
      metadata: plain.items[0]?.metadata,
    })
  })

  test('NEG-06: has the earlier version on request', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const shown = await tableOf(path, tableBeta)
    expect([shown.apiVersion, shown.rows[0]?.object?.apiVersion]).toEqual(['meta.orch.io/v1beta1', 'meta.orch.io/v1beta1'])
  })

  test('TABLE-04, TABLE-05: of a kind without columns shows names and creation times', async () => {
    const namespace = await aNamespace(server.api)
    const path = `/api/v1/namespaces/${namespace}/limitranges`
    const { metadata } = await created(server.api, path, {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'a' },
      spec: { limits: [] },
    })
    const shown = await tableOf(path)
    expect(shown.columnDefinitions?.map(({ name, type }) => [name, type])).toEqual([
      ['Name', 'string'],
      ['Created At', 'date'],
    ])
    expect(shown.rows[0]?.cells).toEqual(['a', metadata.creationTimestamp])
  })

  test('NEG-06: of one object has one row, and the version of the object', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    const { metadata } = (await server.api.get(`${path}/a`)).body
    const shown = await tableOf(`${path}/a`)
    expect(shown.metadata).toEqual({ resourceVersion: metadata.resourceVersion })
    expect(shown.rows.map(({ cells }) => cells[0])).toEqual(['a'])
  })

  test('TABLE-06: has the objects that includeObject selects', async () => {
    const path = await someConfigMaps(server.api)
    await created(server.api, path, configMap({ name: 'a', data: { x: '1' } }))
    for (const target of [path, `${path}/a`]) {
      expect((await tableOf(`${target}?includeObject=None`)).rows[0]?.object).toBeNull()
      expect((await tableOf(`${target}?includeObject=Object`)).rows[0]?.object).toEqual((await server.api.get(`${path}/a`)).body)
      expect((await tableOf(`${target}?includeObject=Metadata`)).rows[0]?.object?.kind).toBe('PartialObjectMetadata')
      const { status, body } = await server.api.get(`${target}?includeObject=Foo`, { accept: table })
      expect([status, body['message']]).toEqual([
        400,
        "Unable to convert to Table as requested: includeObject: Invalid value: \"Foo\": must be 'Metadata', 'Object', 'None', or empty",
      ])
    }
  })

  test('CHUNK-01: has the pages of the list', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b', 'c')
    const first = await tableOf(`${path}?limit=2`)
    expect(first.metadata.remainingItemCount).toBe(1)
    const rest = await tableOf(`${path}?limit=2&continue=${encodeURIComponent(first.metadata.continue ?? '')}`)
    expect([...first.rows, ...rest.rows].map(({ cells }) => cells[0])).toEqual(['a', 'b', 'c'])
  })

  test('NEG-06: has current rows once an object has changed', async () => {
    const path = await someConfigMaps(server.api, 'a')
    expect((await tableOf(path)).rows[0]?.cells[1]).toBe(0)
    await server.api.patch(`${path}/a`, { data: { x: '1' } })
    expect((await tableOf(path)).rows[0]?.cells[1]).toBe(1)
  })

  test('NEG-06: may be the answer of a write', async () => {
    const path = await someConfigMaps(server.api)
    const made = await server.api.post(path, configMap({ name: 'a' }), { accept: table })
    expect([made.status, made.body.kind]).toEqual([201, 'Table'])
    const gone = await server.api.send('DELETE', `${path}/a`, { headers: { accept: table } })
    expect([gone.status, gone.body.kind]).toEqual([200, 'Status'])
  })

  test('ERR-18: is a Status after a failure', async () => {
    const { body } = await server.api.get(`${await someConfigMaps(server.api)}/none`, { accept: kubectlTable })
    expect(body).toMatchObject({ kind: 'Status', code: 404 })
  })

  test('NEG-06: in a version other than the stored one has the same rows, with objects of its version', async () => {
    const namespace = await aNamespace(server.api)
    const object = {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a' },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, minReplicas: 2, maxReplicas: 3 },
    }
    await created(server.api, `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`, object)
    const [one, two] = await Promise.all(
      ['v1', 'v2'].map((version) =>
        tableOf(`/apis/autoscaling/${version}/namespaces/${namespace}/horizontalpodautoscalers?includeObject=Object`),
      ),
    )
    // The age, the last column, may differ because a second may have passed.
    const age = expect.stringMatching(/^\d+s$/)
    expect(one?.rows[0]?.cells).toEqual([...(two?.rows[0]?.cells.slice(0, -1) ?? []), age])
    expect(two?.rows[0]?.cells.at(-1)).toEqual(age)
    expect([one, two].map((shown) => shown?.rows[0]?.object?.apiVersion)).toEqual(['autoscaling/v1', 'autoscaling/v2'])
  })

  test('NEG-06: exists for every kind that can be listed', async () => {
    const { body } = await server.api.get('/apis')
    const groups = body['groups'] as { versions: { groupVersion: string }[] }[]
    const bases = ['/api/v1', ...groups.flatMap((group) => group.versions.map(({ groupVersion }) => `/apis/${groupVersion}`))]
    for (const base of bases) {
      const resources = (await server.api.get(base)).body['resources'] as { name: string; verbs: string[] }[]
      for (const { name, verbs } of resources) {
        if (verbs.includes('list')) expect((await tableOf(`${base}/${name}`)).kind).toBe('Table')
      }
    }
  })
})

describe('PartialObjectMetadata', () => {
  test('is returned for an object and a list, in JSON', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    const plain = (await server.api.get(path)).body
    const one = (await server.api.get(`${path}/a`, { accept: metadataOnly })).body
    expect(one).toEqual({ kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1', metadata: plain.items[0]?.metadata })
    const all = (await server.api.get(atVersionOf(plain, path), { accept: metadataList })).body
    expect(all).toEqual({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.orch.io/v1',
      metadata: plain.metadata,
      items: plain.items.map(({ metadata }) => ({ kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1', metadata })),
    })
  })

  test('is returned for an object and a list in Protobuf', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    const one = await sendRaw(server.api, 'GET', `${path}/a`, { headers: { accept: inProtobuf(metadataOnly) } })
    const { kind, apiVersion, message } = readEnvelope(one.bytes)
    expect([kind, apiVersion, wireField(message, 1, 1).toString()]).toEqual(['PartialObjectMetadata', 'meta.orch.io/v1', 'a'])
    const all = readEnvelope((await sendRaw(server.api, 'GET', path, { headers: { accept: inProtobuf(metadataList) } })).bytes)
    expect(all.kind).toBe('PartialObjectMetadataList')
    expect((wireFields(all.message).get(2) ?? []).map((item) => wireField(item as Buffer, 1, 1).toString())).toEqual(['a', 'b'])
  })

  test('NEG-09: of a list requested for an object is a 406, and of an object requested for a list too', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const answers = [await server.api.get(path, { accept: metadataOnly }), await server.api.get(`${path}/a`, { accept: metadataList })]
    expect(answers.map(({ status }) => status)).toEqual([406, 406])
    expect(answers.map(({ body }) => body['message'])).toEqual([
      'you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)',
      'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)',
    ])
  })
})

const inProtobuf = (accept: string) => `${accept.replace('application/json', protobuf)},${accept},application/json`

describe('watches', () => {
  test('NEG-06: as Table have columns in the first event of each client, and one row in every event', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const watches = [await server.api.watch(`${path}?watch=1`, { accept: kubectlTable })]
    const [first] = await (watches[0] as (typeof watches)[0]).take(1)
    expect(first).toMatchObject({
      type: 'ADDED',
      object: { kind: 'Table', columnDefinitions: [{ name: 'Name' }, { name: 'Data' }, { name: 'Age' }] },
    })
    const { body } = await server.api.get(path)
    watches.push(await server.api.watch(`${path}?watch=1&resourceVersion=${body.metadata.resourceVersion}`, { accept: table }))
    await server.api.patch(`${path}/a`, { data: { x: '1' } })
    await server.api.delete(`${path}/a`)
    const told = await Promise.all(watches.map((watch) => watch.take(2)))
    const columns = told.map((events) => events.map(({ object }) => object['columnDefinitions'] !== null))
    expect(columns).toEqual([
      [false, false],
      [true, false],
    ])
    for (const events of told) {
      expect(events.map(({ type, object }) => [type, (object as unknown as Shown).rows.map(({ cells }) => cells.slice(0, 2))])).toEqual([
        ['MODIFIED', [['a', 1]]],
        ['DELETED', [['a', 1]]],
      ])
    }
  })

  const bookmarked = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1'

  test('WATCH-08: as Table have the version of a bookmark in its row', async () => {
    const path = await someConfigMaps(today.api)
    const watch = await today.api.watch(`${path}?${bookmarked}`, { accept: table })
    const events = await watch.take(1)
    const [bookmark] = events
    expect(bookmark).toMatchObject({ type: 'BOOKMARK', object: { kind: 'Table', columnDefinitions: [{ name: 'Name' }, {}, {}] } })
    const { rows, metadata } = (bookmark as (typeof events)[0]).object as unknown as Shown
    expect(rows[0]?.object?.metadata).toMatchObject({ resourceVersion: metadata.resourceVersion })
  })

  test('as PartialObjectMetadata have only metadata', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const watch = await server.api.watch(`${path}?watch=1`, { accept: metadataOnly })
    await server.api.patch(`${path}/a`, { data: { x: '1' } })
    const events = await watch.take(2)
    expect(events.map(({ type, object }) => [type, object.kind, object.metadata.name])).toEqual([
      ['ADDED', 'PartialObjectMetadata', 'a'],
      ['MODIFIED', 'PartialObjectMetadata', 'a'],
    ])
    expect(Object.keys(events[1]?.object ?? {})).toEqual(['kind', 'apiVersion', 'metadata'])
  })

  test('WATCH-02, NEG-03: as Protobuf have frames with their length, and the object in its envelope', async () => {
    const path = await someConfigMaps(today.api, 'a', 'b')
    const { headers, frames } = await readFrames(today.api, `${path}?${bookmarked}&timeoutSeconds=1`, `${protobuf},application/json`, 3)
    expect(headers['content-type']).toBe(`${protobuf};stream=watch`)
    const told = frames.map((frame) => ({ type: wireField(frame, 1).toString(), ...readEnvelope(wireField(frame, 2, 1)) }))
    expect(told.map(({ type, kind }) => [type, kind])).toEqual([
      ['ADDED', 'ConfigMap'],
      ['ADDED', 'ConfigMap'],
      ['BOOKMARK', 'ConfigMap'],
    ])
    expect(told.slice(0, 2).map(({ message }) => wireField(message, 1, 1).toString())).toEqual(['a', 'b'])
    expect(wireField(told[2]?.message as Buffer, 1, 6).toString()).toMatch(/^\d+$/)
  })

  test('WATCH-17, NEG-03: as Protobuf send changes to several clients at once', async () => {
    const path = await someConfigMaps(server.api)
    const { metadata } = (await server.api.get(path)).body
    const target = `${path}?watch=1&resourceVersion=${metadata.resourceVersion}`
    const reading = [readFrames(server.api, target, protobuf, 2), readFrames(server.api, target, protobuf, 2)]
    await created(server.api, path, configMap({ name: 'a' }))
    await server.api.delete(`${path}/a`)
    for (const { frames } of await Promise.all(reading)) {
      expect(frames.map((frame) => wireField(frame, 1).toString())).toEqual(['ADDED', 'DELETED'])
      expect(wireField(readEnvelope(wireField(frames[1] as Buffer, 2, 1)).message, 1, 1).toString()).toBe('a')
    }
  })

  test('WATCH-02, NEG-09: as YAML are a 406 that names the supported formats', async () => {
    const path = await someConfigMaps(server.api)
    const { status, text } = await server.api.get(`${path}?watch=1`, { accept: 'application/yaml' })
    expect(status).toBe(406)
    expect(text.replace(/\s+/g, ' ')).toContain(`application/json;stream=watch, ${protobuf};stream=watch`)
  })
})
