import { describe, expect, test } from 'vitest'
import { aName, aNamespace, configMap, configMapsIn, created, sharedApi, someConfigMaps } from './api.ts'

const server = sharedApi()

const table = 'application/json;as=Table;v=v1;g=meta.orch.io'

interface Column {
  name: string
  type: string
  format: string
  description: string
  priority: number
}

interface Row {
  cells: unknown[]
  object: { kind: string; apiVersion: string; metadata: { name: string } } | null
}

const columnsOf = (body: Record<string, unknown>) => body['columnDefinitions'] as Column[]
const rowsOf = (body: Record<string, unknown>) => body['rows'] as Row[]

describe('a Table', () => {
  test('NEG-06, NEG-08, TABLE-01, TABLE-02: is returned for a collection', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    const { body: list } = await server.api.get(path)
    const { status, headers, body } = await server.api.get(path, { accept: table })
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: expect.stringMatching(/^application\/json/) })
    expect(body).toMatchObject({ kind: 'Table', apiVersion: 'meta.orch.io/v1' })
    expect(body.metadata).toEqual({ resourceVersion: expect.stringMatching(/^\d+$/) })
    // With services apart, gateways write heartbeats at intervals, so a later list may have a later version.
    expect(Number(body.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(list.metadata.resourceVersion))
    expect(columnsOf(body)[0]).toEqual({
      name: 'Name',
      type: 'string',
      format: 'name',
      description: expect.stringMatching(/./),
      priority: 0,
    })
    for (const { name, type } of columnsOf(body)) {
      expect(name).toMatch(/./)
      expect(type).toBeOneOf(['string', 'integer', 'number', 'boolean', 'date'])
    }
    expect(rowsOf(body).map(({ cells }) => cells[0])).toEqual(['a', 'b'])
    for (const { cells, object } of rowsOf(body)) {
      expect(cells).toHaveLength(columnsOf(body).length)
      expect(object).toMatchObject({ kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1', metadata: { name: cells[0] } })
      expect(object).not.toHaveProperty('data')
    }
  })

  test('NEG-06, TABLE-06: is returned for one object', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { body: live } = await server.api.get(`${path}/a`)
    const { body } = await server.api.get(`${path}/a`, { accept: table })
    expect(body.kind).toBe('Table')
    expect(body.metadata.resourceVersion).toBe(live.metadata.resourceVersion)
    expect(rowsOf(body)).toHaveLength(1)
  })

  test('TABLE-06: is returned in pages', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b', 'c')
    const { body } = await server.api.get(`${path}?limit=2`, { accept: table })
    expect(body.metadata).toEqual({ resourceVersion: expect.any(String), continue: expect.stringMatching(/./), remainingItemCount: 1 })
    const { body: rest } = await server.api.get(`${path}?limit=2&continue=${body.metadata.continue}`, { accept: table })
    expect(rowsOf(rest).map(({ cells }) => cells[0])).toEqual(['c'])
  })

  test.each([
    ['Object', 'ConfigMap'],
    ['Metadata', 'PartialObjectMetadata'],
    ['', 'PartialObjectMetadata'],
  ])('TABLE-06: with includeObject=%s has in each row a %s', async (included, kind) => {
    const path = await someConfigMaps(server.api, 'a')
    const { body } = await server.api.get(`${path}?includeObject=${included}`, { accept: table })
    expect(rowsOf(body)[0]!.object?.kind).toBe(kind)
  })

  test('TABLE-06: with includeObject=None has no objects, and with another value is a 400', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { body } = await server.api.get(`${path}?includeObject=None`, { accept: table })
    expect(rowsOf(body)[0]!.object).toBeNull()
    const other = await server.api.get(`${path}?includeObject=Foo`, { accept: table })
    expect(other.status).toBe(400)
    expect(other.body['message']).toBe(
      `Unable to convert to Table as requested: includeObject: Invalid value: "Foo": must be 'Metadata', 'Object', 'None', or empty`,
    )
  })

  test('TABLE-04, TABLE-05: of a kind without columns has Name and Created At', async () => {
    const name = aName('limit')
    const path = `/api/v1/namespaces/${await aNamespace(server.api)}/limitranges`
    const made = await created(server.api, path, { apiVersion: 'v1', kind: 'LimitRange', metadata: { name }, spec: { limits: [] } })
    const { body } = await server.api.get(path, { accept: table })
    expect(columnsOf(body).map((column) => ({ name: column.name, type: column.type }))).toEqual([
      { name: 'Name', type: 'string' },
      { name: 'Created At', type: 'date' },
    ])
    expect(rowsOf(body)[0]!.cells).toEqual([name, made.metadata.creationTimestamp])
  })

  test('NEG-13: is the first accepted form of several', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const earlier = 'application/json;as=Table;v=v1beta1;g=meta.orch.io'
    expect((await server.api.get(path, { accept: `${table},${earlier},application/json` })).body.apiVersion).toBe('meta.orch.io/v1')
    expect((await server.api.get(path, { accept: `${earlier},application/json` })).body.apiVersion).toBe('meta.orch.io/v1beta1')
    expect((await server.api.get(path, { accept: `application/json,${table}` })).body.kind).toBe('ConfigMapList')
    expect((await server.api.get(path, { accept: 'application/json;as=Table;v=v9;g=meta.orch.io' })).status).toBe(406)
  })

  test('NEG-06: is a Status for an error', async () => {
    const { status, body } = await server.api.get(`${configMapsIn('default')}/none`, { accept: table })
    expect({ status, kind: body.kind, reason: body['reason'] }).toEqual({ status: 404, kind: 'Status', reason: 'NotFound' })
  })

  test('NEG-06, WATCH-03: in a watch has one row in each event, and columns in the first', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const watch = await server.api.watch(`${path}?watch=1`, { accept: table })
    await created(server.api, path, configMap({ name: 'b' }))
    const [first, second] = await watch.take(2)
    expect([first, second].map((event) => [event!.type, event!.object.kind, rowsOf(event!.object).map(({ cells }) => cells[0])])).toEqual([
      ['ADDED', 'Table', ['a']],
      ['ADDED', 'Table', ['b']],
    ])
    expect(columnsOf(first!.object).length).toBeGreaterThan(0)
    expect(columnsOf(second!.object)).toBeNull()
  })

  test('NEG-06: requested in a DELETE is the Status of the deletion', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { status, body } = await server.api.send('DELETE', `${path}/a`, { headers: { accept: `${table},application/json` } })
    expect({ status, kind: body.kind }).toEqual({ status: 200, kind: 'Status' })
  })
})

describe('a collection of several parts', () => {
  /** The list is larger than one answer of storage, and some rows are larger than the pieces that the gateway joins before it writes. */
  const someLong = async () => {
    const path = await someConfigMaps(server.api)
    const names = Array.from({ length: 300 }, (_, index) => `c-${String(index).padStart(3, '0')}`)
    const annotations = (index: number) => ({ note: 'äß€😀 "quoted" '.repeat(index % 40) })
    const data = (index: number) => ({ text: 'x'.repeat(index % 50 === 0 ? 100_000 : index) })
    for (let from = 0; from < names.length; from += 50) {
      const some = names.slice(from, from + 50)
      const fieldsOf = (name: string, index: number) => ({ name, annotations: annotations(from + index), data: data(from + index) })
      await Promise.all(some.map((name, index) => created(server.api, path, configMap(fieldsOf(name, index)))))
    }
    return path
  }

  test('NEG-06, NEG-13, TABLE-06: has each object once, complete, in the order of the list', async () => {
    const path = await someLong()
    const { body: list } = await server.api.get(path)
    const { body: withObjects } = await server.api.get(`${path}?includeObject=Object`, { accept: table })
    const { body: withMetadata } = await server.api.get(path, { accept: table })
    const { body: without } = await server.api.get(`${path}?includeObject=None`, { accept: table })
    const { body: metadata } = await server.api.get(path, { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.orch.io' })
    const partial = list.items.map((item) => ({ kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1', metadata: item.metadata }))
    expect(list.items).toHaveLength(300)
    expect(rowsOf(withObjects).map(({ object }) => object)).toEqual(list.items)
    expect(rowsOf(withMetadata).map(({ object }) => object)).toEqual(partial)
    expect(rowsOf(without).map(({ cells, object }) => [cells[0], object])).toEqual(list.items.map((item) => [item.metadata.name, null]))
    expect(metadata.items).toEqual(partial)
  })
})

describe('PartialObjectMetadata', () => {
  const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.orch.io'

  test('NEG-13: is returned for one object, a collection and a watch', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { body: live } = await server.api.get(`${path}/a`)
    const expected = { kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1', metadata: live.metadata }
    expect((await server.api.get(`${path}/a`, { accept: partial })).body).toEqual(expected)
    const { body: list } = await server.api.get(path, { accept: partial.replace('Metadata;', 'MetadataList;') })
    expect(list).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.orch.io/v1', items: [{ metadata: live.metadata }] })
    const watch = await server.api.watch(`${path}?watch=1`, { accept: partial })
    expect(await watch.next()).toEqual({ type: 'ADDED', object: expected })
  })
})

test('FlowSchemas in a Table are in matching order, by precedence and then by name', async () => {
  const path = '/apis/flowcontrol.apiserver.orch.io/v1/flowschemas'
  const names = [aName('z'), aName('y'), aName('x')]
  for (const [index, name] of names.entries()) {
    const spec = { priorityLevelConfiguration: { name: 'global-default' }, matchingPrecedence: index === 0 ? 7 : 9500 }
    await created(server.api, path, { metadata: { name }, spec })
  }
  const rows = rowsOf((await server.api.get(path, { accept: table })).body).map(({ cells }) => [cells[2], cells[0]] as [number, string])
  expect(rows).toEqual(rows.toSorted(([left, one], [right, other]) => left - right || (one < other ? -1 : 1)))
  expect(rows.map(([, name]) => name).filter((name) => names.includes(name))).toEqual([names[0], names[2], names[1]])
  expect(rows[0]).toEqual([1, 'exempt'])
})
