import { describe, expect, test } from 'vitest'
import { created, sharedApi, until, untilEverywhere } from './api.ts'
import { aConvertedKind, answeringObjects, conversionBy, convertedObjects, urlOf, versionOf, widget } from './conversion-hook.ts'

const server = sharedApi({ profile: 'kubernetes' })

const tableOf = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
const metadataOf = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' }

describe('reading', () => {
  test('CRD-126, CRD-130: returns an object in a version that its webhook converts it to', async () => {
    const { api } = server
    const kind = await aConvertedKind(api, { more: { extra: { type: 'string', default: 'of v2' } } })
    const made = await created(api, kind.at('v1'), widget(kind, 'v1', 'a', { size: 3, hue: 'red' }))
    expect(kind.hook.calls).toEqual([])
    const { body } = await api.get(`${kind.at('v2')}/a`)
    expect(body).toMatchObject({ apiVersion: `${kind.group}/v2`, spec: { box: { size: 3 }, color: 'red', weight: 'light' } })
    expect(body.metadata).toEqual(made.metadata)
    const [{ review } = { review: undefined }] = kind.hook.calls
    expect(review).toEqual({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      request: { uid: expect.any(String), desiredAPIVersion: `${kind.group}/v2`, objects: [made] },
    })
    // The server drops a field that the requested version lacks and does not fill in the field's default.
    expect(body['spec']).not.toHaveProperty('extra')
  })

  test('CRD-126: sends v1beta1 reviews to a webhook that supports only those', async () => {
    const { api } = server
    const kind = await aConvertedKind(api, { reviewVersions: ['v9', 'v1beta1'] })
    await created(api, kind.at('v1'), widget(kind, 'v1', 'a', { size: 3 }))
    expect((await api.get(`${kind.at('v2')}/a`)).body).toMatchObject({ spec: { box: { size: 3 } } })
    expect(kind.hook.calls[0]?.review).toMatchObject({ apiVersion: 'apiextensions.k8s.io/v1beta1' })
  })

  test('CRD-127: converts a list or a page in one call, and makes no call in the stored version', async () => {
    const { api } = server
    const kind = await aConvertedKind(api)
    for (const name of ['a', 'b', 'c']) await created(api, kind.at('v1'), widget(kind, 'v1', name, { size: 1 }))
    const { body } = await api.get(kind.at('v2'))
    expect(body).toMatchObject({ kind: 'WidgetList', apiVersion: `${kind.group}/v2` })
    expect(body.items.map(({ metadata, ...item }) => [metadata.name, item['spec']])).toEqual(
      ['a', 'b', 'c'].map((name) => [name, { box: { size: 1 }, weight: 'light' }]),
    )
    expect(kind.hook.calls).toHaveLength(1)
    const page = await api.get(`${kind.at('v2')}?limit=2`)
    expect(page.body.items).toHaveLength(2)
    expect(kind.hook.calls).toHaveLength(2)
    expect((await api.get(kind.at('v1'))).body.items).toHaveLength(3)
    expect(kind.hook.calls).toHaveLength(2)
  })

  test('shows tables with the cells of the requested version, and metadata without a call', async () => {
    const { api } = server
    const kind = await aConvertedKind(api)
    await created(api, kind.at('v1'), widget(kind, 'v1', 'a', { size: 7 }))
    for (const path of [kind.at('v2'), `${kind.at('v2')}/a`]) {
      const { body } = await api.get(path, tableOf)
      expect(body['rows']).toMatchObject([{ cells: ['a', 7] }])
    }
    const calls = kind.hook.calls.length
    expect((await api.get(`${kind.at('v2')}/a`, metadataOf)).body).toMatchObject({ metadata: { name: 'a' } })
    const list = await api.get(kind.at('v2'), { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' })
    expect(list.body.items).toMatchObject([{ metadata: { name: 'a' } }])
    expect(kind.hook.calls).toHaveLength(calls)
  })

  test('CRD-125: sends a watch the current objects and every change in its version, in order', async () => {
    const { api } = server
    const kind = await aConvertedKind(api)
    await created(api, kind.at('v1'), widget(kind, 'v1', 'a', { size: 1 }))
    const watch = await api.watch(`${kind.at('v2')}?watch=1`)
    const first = await watch.next()
    expect(first).toMatchObject({ type: 'ADDED', object: { apiVersion: `${kind.group}/v2`, spec: { box: { size: 1 } } } })
    for (let size = 2; size < 12; size++) await api.patch(`${kind.at('v1')}/a`, { spec: { size } })
    await api.delete(`${kind.at('v1')}/a`)
    const events = await watch.take(11)
    expect(events.map(({ type, object }) => [type, object['spec']])).toEqual([
      ...Array.from({ length: 10 }, (_, index) => ['MODIFIED', { box: { size: index + 2 }, weight: 'light' }]),
      ['DELETED', { box: { size: 11 }, weight: 'light' }],
    ])
    const table = await api.watch(`${kind.at('v2')}?watch=1`, tableOf)
    await created(api, kind.at('v1'), widget(kind, 'v1', 'b', { size: 5 }))
    expect(await table.next()).toMatchObject({ type: 'ADDED', object: { rows: [{ cells: ['b', 5] }] } })
  })

  test('keeps integers beyond 2^53 exact', async () => {
    const { api } = server
    const kind = await aConvertedKind(api, {
      reply: ({ text, request }, response) => {
        const other = text
          .slice(text.indexOf('"objects":') + '"objects":'.length, -2)
          .replaceAll(`${request.objects[0].apiVersion}`, request.desiredAPIVersion)
        const front = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"${request.uid}","result":{"status":"Success"},`
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(`${front}"convertedObjects":${other}}}`)
      },
    })
    const text = JSON.stringify(widget(kind, 'v1', 'a', { wide: 1 })).replace('"wide":1', '"wide":9007199254740993')
    expect((await api.post(kind.at('v1'), text)).status).toBe(201)
    expect((await api.get(`${kind.at('v2')}/a`)).text).toContain('"wide":9007199254740993')
  })
})

describe('writing', () => {
  test('CRD-124: converts every write through another version to the stored version', async () => {
    const { api } = server
    const kind = await aConvertedKind(api)
    const made = await created(api, kind.at('v2'), widget(kind, 'v2', 'a', { box: { size: 1 }, color: 'red' }))
    expect(made).toMatchObject({ apiVersion: `${kind.group}/v2`, spec: { box: { size: 1 }, color: 'red', weight: 'heavy' } })
    const stored = async () => (await api.get(`${kind.at('v1')}/a`)).body['spec']
    expect(await stored()).toEqual({ size: 1, hue: 'red', weight: 'heavy' })
    const updated = await api.put(`${kind.at('v2')}/a`, { ...made, spec: { box: { size: 2 } } })
    expect(updated.body).toMatchObject({ metadata: { generation: 2 }, spec: { box: { size: 2 } } })
    expect(await stored()).toMatchObject({ size: 2 })
    const merged = await api.patch(`${kind.at('v2')}/a`, { spec: { color: 'blue' } })
    expect(merged.body).toMatchObject({ spec: { box: { size: 2 }, color: 'blue' } })
    await api.patch(`${kind.at('v2')}/a`, [{ op: 'replace', path: '/spec/box/size', value: 3 }])
    expect(await stored()).toMatchObject({ size: 3, hue: 'blue' })
    await api.patch(`${kind.at('v2')}/a/status`, { status: { phase: 'ready' } })
    await api.patch(`${kind.at('v2')}/a`, { spec: { replicas: 1 } })
    const scale = await api.patch(`${kind.at('v2')}/a/scale`, { spec: { replicas: 4 } })
    expect(scale.body).toMatchObject({ kind: 'Scale', spec: { replicas: 4 } })
    expect((await api.get(`${kind.at('v2')}/a/scale`)).body).toMatchObject({ spec: { replicas: 4 } })
    expect((await api.get(`${kind.at('v1')}/a`)).body).toMatchObject({ spec: { replicas: 4 }, status: { phase: 'ready' } })
    expect((await api.delete(`${kind.at('v2')}/a`)).status).toBe(200)
    expect((await api.get(`${kind.at('v1')}/a`)).status).toBe(404)
  })

  test('validates values in the version of the request, and stores nothing of a refused write', async () => {
    const { api } = server
    const kind = await aConvertedKind(api)
    const { status, body } = await api.post(kind.at('v2'), widget(kind, 'v2', 'a', { box: { size: 101 } }))
    expect([status, body['message']]).toEqual([422, expect.stringContaining('spec.box.size')])
    expect((await api.get(`${kind.at('v1')}/a`)).status).toBe(404)
  })

  test('calls the webhook in a dry run and stores nothing', async () => {
    const { api } = server
    const kind = await aConvertedKind(api)
    const { body } = await api.post(`${kind.at('v2')}?dryRun=All`, widget(kind, 'v2', 'a', { box: { size: 1 } }))
    expect(body).toMatchObject({ apiVersion: `${kind.group}/v2`, spec: { box: { size: 1 } } })
    expect((await api.get(kind.at('v1'))).body.items).toEqual([])
  })

  test('stores no update without a change', async () => {
    const { api } = server
    const kind = await aConvertedKind(api)
    const made = await created(api, kind.at('v2'), widget(kind, 'v2', 'a', { box: { size: 1 } }))
    const { body } = await api.put(`${kind.at('v2')}/a`, made)
    expect(body).toEqual(made)
  })

  test('CRD-137: keeps managers as owners of the fields that they applied in their own versions', async () => {
    const { api } = server
    const kind = await aConvertedKind(api)
    const apply = (version: string, manager: string, spec: object) =>
      api.send('PATCH', `${kind.at(version)}/a?fieldManager=${manager}`, {
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: widget(kind, version, 'a', spec),
      })
    expect((await apply('v1', 'one', { size: 1, hue: 'red' })).status).toBe(201)
    const refused = await apply('v2', 'two', { box: { size: 2 } })
    expect([refused.status, refused.body['message']]).toEqual([409, expect.stringContaining('conflict with "one"')])
    const second = await apply('v2', 'two', { color: 'red' })
    expect(second.body).toMatchObject({ apiVersion: `${kind.group}/v2`, spec: { box: { size: 1 }, color: 'red' } })
    const owned = (manager: string, version: string, fields: object) =>
      expect.objectContaining({ manager, apiVersion: `${kind.group}/${version}`, fieldsV1: { 'f:spec': fields } })
    expect(second.body.metadata['managedFields']).toEqual(
      expect.arrayContaining([owned('one', 'v1', { 'f:size': {}, 'f:hue': {} }), owned('two', 'v2', { 'f:color': {} })]),
    )
    // When one manager leaves a field out, the field stays while another manager owns it in another version.
    const left = await apply('v1', 'one', { size: 1 })
    expect(left.body['spec']).toMatchObject({ size: 1, hue: 'red' })
    const gone = await apply('v2', 'two', {})
    expect(gone.body['spec']).not.toHaveProperty('color')
    expect((await api.get(`${kind.at('v1')}/a`)).body['spec']).toEqual({ size: 1, weight: 'light' })
  })

  test('deletes a collection through any version', async () => {
    const { api } = server
    const kind = await aConvertedKind(api)
    for (const name of ['a', 'b']) await created(api, kind.at('v1'), widget(kind, 'v1', name, { size: 1 }))
    expect((await api.delete(kind.at('v2'))).status).toBe(200)
    expect((await api.get(kind.at('v1'))).body.items).toEqual([])
  })

  test('CRD-130: lets a webhook change labels and annotations of the metadata, and reverts its other changes to metadata', async () => {
    const { api } = server
    const kind = await aConvertedKind(api, {
      reply: answeringObjects((called) => ({
        convertedObjects: convertedObjects(called).map((object) => ({
          ...object,
          metadata: { ...object.metadata, labels: { by: 'webhook' }, finalizers: ['example.com/x'], generation: 9, resourceVersion: '1' },
        })),
      })),
    })
    const made = await created(api, kind.at('v1'), widget(kind, 'v1', 'a', { size: 1 }))
    const { body } = await api.get(`${kind.at('v2')}/a`)
    expect(body.metadata).toEqual({ ...made.metadata, labels: { by: 'webhook' } })
  })
})

describe('a change of the stored version', () => {
  test('CRD-124, CRD-138, CRD-136: leaves old objects unchanged until they are written, and needs no call in their own version', async () => {
    const { api } = server
    const kind = await aConvertedKind(api)
    await created(api, kind.at('v1'), widget(kind, 'v1', 'old', { size: 1 }))
    const discovered = () => api.get(`/apis/${kind.group}/v2`)
    const { text: before } = await discovered()
    const change = { spec: { conversion: conversionBy(urlOf(kind.hook)), versions: [versionOf('v1', 'v2'), versionOf('v2', 'v2')] } }
    expect((await api.patch(kind.definition, change)).status).toBe(200)
    // Gateways hear of the change at different times; the hash shows which version a gateway stores.
    await untilEverywhere(discovered, ({ text }) => text !== before)
    expect((await api.get(kind.definition)).body['status']).toMatchObject({ storedVersions: ['v1', 'v2'] })
    const both = await api.get(kind.at('v2'))
    expect(both.body.items.find(({ metadata }) => metadata.name === 'old')).toMatchObject({ spec: { box: { size: 1 } } })
    const calls = kind.hook.calls.length
    expect((await api.get(`${kind.at('v1')}/old`)).body).toMatchObject({ spec: { size: 1 } })
    expect(kind.hook.calls).toHaveLength(calls)
    const { body: old } = await api.get(`${kind.at('v2')}/old`)
    expect(kind.hook.calls).toHaveLength(calls + 1)
    // An update that changes nothing still writes the object in the present storage version.
    const { body: renewed } = await api.put(`${kind.at('v2')}/old`, old)
    expect(Number(renewed.metadata.resourceVersion)).toBeGreaterThan(Number(old.metadata.resourceVersion))
    const known = kind.hook.calls.length
    expect((await api.get(`${kind.at('v2')}/old`)).body).toMatchObject({ spec: { box: { size: 1 } } })
    expect(kind.hook.calls).toHaveLength(known)
  })

  test('CRD-124: gives an old object the defaults of its own version before it is converted', async () => {
    const { api } = server
    const kind = await aConvertedKind(api)
    await created(api, kind.at('v1'), widget(kind, 'v1', 'old', { size: 1 }))
    const first = versionOf('v1', 'v2', { hue: { type: 'string', default: 'blue' } })
    const change = { spec: { conversion: conversionBy(urlOf(kind.hook)), versions: [first, versionOf('v2', 'v2')] } }
    expect((await api.patch(kind.definition, change)).status).toBe(200)
    const { body } = await until(
      () => api.get(`${kind.at('v2')}/old`),
      ({ body: shown }) => JSON.stringify(shown['spec']).includes('color'),
    )
    expect(body['spec']).toMatchObject({ box: { size: 1 }, color: 'blue', weight: 'light' })
  })
})
