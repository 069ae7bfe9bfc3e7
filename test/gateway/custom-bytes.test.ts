import type { ListPart, StorageService } from '@orch/core/contracts'
import { decodeStored, encodeStored } from '@orch/core/stored'
import { expect, test } from 'vitest'
import { aGateway } from './own-gateway.ts'

const group = 'example.com'
const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const widgets = `/apis/${group}/v1/widgets`

interface Schema {
  readonly [name: string]: unknown
}

function definition(spec: Schema) {
  return {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', ...spec } } } },
          additionalPrinterColumns: [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }],
        },
      ],
    },
  }
}

const plain: Schema = { properties: { color: { type: 'string' } } }
/** The same fields with other spelling and another validation. */
const reworded: Schema = {
  description: 'what is wanted',
  properties: { color: { type: 'string', maxLength: 20, description: 'a color' } },
  'x-kubernetes-validations': [{ rule: 'true' }],
}
const withDefault: Schema = { properties: { color: { type: 'string' }, size: { type: 'integer', default: 1 } } }

/** The kinds of the list parts that storage sends. */
type PartKinds = ListPart['kind'][]

/** A gateway that serves widgets, and its storage. The test marks stored objects: a mark in an answer shows that the gateway sent the bytes unchanged. */
async function aServer() {
  const partKinds: PartKinds = []
  const spoil = (storage: StorageService): Partial<StorageService> => ({
    list: (request, context) => {
      const listed = storage.list(request, context)
      if (request.scope.resource !== `${group}/widgets`) return listed
      async function* noted(): AsyncGenerator<ListPart> {
        for await (const part of listed) {
          partKinds.push(part.kind)
          yield part
        }
      }
      return Object.assign(noted(), { close: () => listed.close() })
    },
  })
  const { call, send, storage, loadDefinitions } = await aGateway(spoil)
  await loadDefinitions()
  expect((await call('POST', definitions, definition(plain))).code).toBe(201)
  const key = (name: string) => `${group}/widgets/${name}`
  const stored = async (name: string) => (await storage.get({ key: key(name), read: { kind: 'latest' } })).entry!
  const create = async (name: string): Promise<void> => {
    const created = await call('POST', widgets, { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name }, spec: { color: 'red' } })
    expect(created.code).toBe(201)
  }
  return {
    call,
    send,
    partKinds,
    create,
    fingerprint: async (name: string) => (await stored(name)).fingerprint,
    change: async (spec: Schema) => {
      const versions = definition(spec).spec.versions
      expect((await call('PATCH', `${definitions}/widgets.${group}`, { spec: { versions } }, 'application/merge-patch+json')).code).toBe(
        200,
      )
    },
    /** Adds a field that the schema lacks to the stored bytes of an object. */
    async mark(name: string): Promise<void> {
      const entry = await stored(name)
      const text = Buffer.from(entry.value).toString().replace(`,"resourceVersion":"${entry.revision}"`, '')
      const json = Buffer.from(text.replace('"spec":{', '"spec":{"mark":true,'))
      const metadataStart = text.indexOf('"metadata":') + '"metadata":'.length
      const encoded = {
        json,
        metadataStart,
        metadataEnd: metadataStart + text.slice(metadataStart).indexOf(',"spec"'),
        hole: text.indexOf(',"uid"'),
      }
      const { fingerprint = 0 } = entry
      const writeId = `mark-${name}`
      const value = encodeStored({ fingerprint, writeId, expiresAtMs: 0, encoded, labels: {}, fields: {} })
      expect(decodeStored(value).json.length).toBe(json.length)
      expect((await storage.commit({ key: key(name), expected: entry.revision, conditions: [], value, writeId })).kind).toBe('written')
    },
    spec: async (name: string) => ((await call('GET', `${widgets}/${name}`)).body as unknown as { spec: unknown }).spec,
    specs: async (query = '') => {
      partKinds.length = 0
      const { body } = await call('GET', `${widgets}${query}`)
      return (body as unknown as { items: { spec: unknown }[] }).items.map(({ spec }) => spec)
    },
    /** The next events of a watch. */
    async events(query: string, count: number): Promise<{ type: string; object: { spec: unknown } }[]> {
      const { body } = await send({ method: 'GET', path: `${widgets}?watch=1&${query}`, headers: {} })
      const seen: { type: string; object: { spec: unknown } }[] = []
      for await (const chunk of body) {
        for (const line of Buffer.from(chunk).toString().trimEnd().split('\n')) seen.push(JSON.parse(line))
        if (seen.length >= count) break
      }
      return seen
    },
  }
}

const marked = { mark: true, color: 'red' }

test('CRD-95, READ-28: an object written under the current schema is answered with its stored bytes', async () => {
  const server = await aServer()
  await server.create('a')
  await server.mark('a')
  const { resourceVersion } = (await server.call('GET', widgets)).body.metadata
  const shown = async (): Promise<void> => {
    expect(await server.spec('a')).toEqual(marked)
    expect(await server.specs()).toEqual([marked])
    expect(server.partKinds).toEqual(['head', 'chunk'])
    expect((await server.events('resourceVersion=0', 1)).map(({ object }) => object.spec)).toEqual([marked])
  }
  await shown()
  const before = await server.fingerprint('a')
  await server.change(reworded)
  await shown()
  await server.create('b')
  expect(await server.fingerprint('b')).toBe(before)
  await server.mark('b')
  const events = await server.events(`resourceVersion=${resourceVersion}`, 2)
  expect(events.map(({ type, object }) => [type, object.spec])).toEqual([
    ['ADDED', { color: 'red' }],
    ['MODIFIED', marked],
  ])
})

test('CRD-95, CRD-98: an object written under another schema is pruned and defaulted when it is read', async () => {
  const server = await aServer()
  await server.create('a')
  await server.mark('a')
  const { resourceVersion } = (await server.call('GET', widgets)).body.metadata
  await server.change(withDefault)
  const renewed = { color: 'red', size: 1 }
  expect(await server.spec('a')).toEqual(renewed)
  expect(await server.specs()).toEqual([renewed])
  expect(server.partKinds).toEqual(['head', 'entries'])
  expect(await server.specs('?limit=1')).toEqual([renewed])
  await server.create('b')
  await server.mark('b')
  expect(await server.fingerprint('b')).not.toBe(await server.fingerprint('a'))
  const current = { mark: true, color: 'red', size: 1 }
  expect(await server.specs()).toEqual([renewed, current])
  expect((await server.events('resourceVersion=0', 2)).map(({ object }) => object.spec)).toEqual([renewed, current])
  await server.call('DELETE', `${widgets}/a`)
  const [first, ...others] = await server.events(`resourceVersion=${Number(resourceVersion) - 1}`, 4)
  expect(first?.object.spec).toEqual(renewed)
  expect(others.map(({ type, object }) => [type, object.spec])).toEqual([
    ['ADDED', renewed],
    ['MODIFIED', current],
    ['DELETED', renewed],
  ])
})

test('CRD-124, CRD-138: a read does not rewrite an object of an older schema, and a write does', async () => {
  const server = await aServer()
  await server.create('a')
  await server.mark('a')
  const before = await server.fingerprint('a')
  await server.change(withDefault)
  await server.spec('a')
  expect(await server.fingerprint('a')).toBe(before)
  const labels = { metadata: { labels: { a: 'b' } } }
  const patched = await server.call('PATCH', `${widgets}/a`, labels, 'application/merge-patch+json')
  expect((patched.body as unknown as { spec: unknown }).spec).toEqual({ color: 'red', size: 1 })
  expect(await server.fingerprint('a')).not.toBe(before)
})
