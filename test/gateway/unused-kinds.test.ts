import { namesOf } from '@orch/core/names'
import { StructuralReaders } from '@orch/core/structural'
import { expect, onTestFinished, test, vi } from 'vitest'
import { aDefinition } from '../definition.ts'
import { aGateway, withInitialEvents } from './own-gateway.ts'

const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const widgets = '/apis/example.com/v1/widgets'
const metadata = (kind: string, type = 'application/json') => ({ accept: `${type};as=${kind};g=meta.orch.io;v=v1` })
const lists = [
  ['JSON', metadata('PartialObjectMetadataList')],
  ['Protobuf', metadata('PartialObjectMetadataList', namesOf('orch').protobufMediaType)],
] as const

/** A gateway that serves widgets, and the number of times that it has read their schema. */
async function aServer() {
  const { call, send, loadDefinitions } = await aGateway(undefined, withInitialEvents)
  await loadDefinitions()
  const spies = [
    vi.spyOn(StructuralReaders.prototype, 'prepare'),
    vi.spyOn(StructuralReaders.prototype, 'schema', 'get'),
    vi.spyOn(StructuralReaders.prototype, 'fingerprint', 'get'),
  ]
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore()
  })
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'string' } } } }
  const definition = aDefinition({ group: 'example.com', plural: 'widgets', kind: 'Widget', scope: 'Cluster', schema })
  const { code, body } = await call('POST', definitions, definition)
  expect(code).toBe(201)
  const readings = () => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0)
  const read = async (path: string, headers: Record<string, string>, until = '\0') => {
    const answer = await send({ method: 'GET', path, headers })
    let text = ''
    for await (const chunk of answer.body) {
      text += Buffer.from(chunk).toString()
      if (text.includes(until)) break
    }
    return { status: answer.status, type: answer.headers['content-type'], text }
  }
  const create = () => call('POST', widgets, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: 'round' })
  return { call, read, readings, create, revision: body.metadata.resourceVersion }
}

test.each(lists)('a metadata list of a kind without objects loads no schema, in %s', async (_, headers) => {
  const { read, readings } = await aServer()
  const { status, type } = await read(widgets, headers)
  expect([status, readings()]).toEqual([200, 0])
  expect(String(type)).toContain(headers.accept.split(';', 1)[0])
})

test('a metadata watch of a kind without objects loads no schema, and sends later objects', async () => {
  const { read, readings, create, revision } = await aServer()
  const initial = `${widgets}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`
  const begun = await read(initial, metadata('PartialObjectMetadata'), 'initial-events-end')
  expect([begun.text.includes('initial-events-end'), readings()]).toEqual([true, 0])
  expect((await create()).code).toBe(201)
  const seen = await read(`${widgets}?watch=true&resourceVersion=${revision}`, metadata('PartialObjectMetadata'), '"ADDED"')
  expect(seen.text).toContain('"name":"a"')
})

test('a metadata get of a kind without objects loads no schema', async () => {
  const { read, readings } = await aServer()
  expect((await read(`${widgets}/a`, metadata('PartialObjectMetadata'))).status).toBe(404)
  expect(readings()).toBe(0)
})

test('the metadata of an object with an older schema is served in every form', async () => {
  const { call, read, create } = await aServer()
  await create()
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'integer' } } } }
  const change = { spec: { versions: [{ name: 'v1', served: true, storage: true, schema }] } }
  expect((await call('PATCH', `${definitions}/widgets.example.com`, change, 'application/merge-patch+json')).code).toBe(200)
  const asked = [
    [widgets, metadata('PartialObjectMetadataList')],
    [`${widgets}/a`, metadata('PartialObjectMetadata')],
    [`${widgets}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`, metadata('PartialObjectMetadata')],
  ] as const
  const prepared = vi.mocked(StructuralReaders.prototype.prepare)
  prepared.mockClear()
  for (const [path, headers] of asked) {
    const { status, text } = await read(path, headers, '"name":"a"')
    expect([status, text.includes('"name":"a"'), text.includes('round')]).toEqual([200, true, false])
    // The first request that needs the schema loads it in steps.
    expect(prepared).toHaveBeenCalledOnce()
  }
})
