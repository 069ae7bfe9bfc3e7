import { shardHash } from '@orch/core/selectors'
import { expect, test } from 'vitest'
import {
  aName,
  aNamespace,
  anApi,
  type Body,
  configMap,
  configMapsIn,
  created,
  namesOfItems,
  sharedApi,
  someConfigMaps,
  untilEverywhere,
} from './api.ts'

const server = sharedApi({ flags: ['--feature-gates=ShardedListAndWatch=true'] })

const halves = (field: string) => [
  `shardRange(object.metadata.${field}, '0x0', '0x8000000000000000')`,
  `shardRange(object.metadata.${field}, '0x8000000000000000', '0x10000000000000000')`,
]
const isLow = (text: string) => shardHash(text) < '08'
const asQuery = (selector: string) => `shardSelector=${encodeURIComponent(selector)}`
const lowAndHigh = halves('uid').map(asQuery) as [string, string]

/** About twenty objects; each half of the hash space has some. */
async function someOfEitherHalf(path: string, object: (name: string) => unknown): Promise<Body[]> {
  const made: Body[] = []
  const counts = () => [made.filter(({ metadata }) => isLow(metadata.uid)).length, made.length]
  for (let at = 0; made.length < 20 || counts()[0] === 0 || counts()[0] === counts()[1]; at++) {
    made.push(await created(server.api, path, object(`o-${String(at).padStart(3, '0')}`)))
  }
  return made
}

const namesIn = (objects: readonly Body[], low: boolean) =>
  objects.filter(({ metadata }) => isLow(metadata.uid) === low).map(({ metadata }) => metadata.name)

/** A new kind, whose metadata the server prints in the order of their names; returns the path of its objects in a namespace. */
async function aCustomKind(namespace: string): Promise<{ readonly path: string; readonly object: (name: string) => unknown }> {
  const plural = aName('shard').replace('-', '')
  const group = `${plural}.example.com`
  await created(server.api, '/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind: 'Shard' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  })
  const path = `/apis/${group}/v1/namespaces/${namespace}/${plural}`
  await untilEverywhere(
    () => server.api.get(path),
    ({ status }) => status === 200,
  )
  const metadata = (name: string) => ({ name, annotations: { text: 'a "uid":"x"' }, labels: { app: 'b' } })
  return { path, object: (name) => ({ apiVersion: `${group}/v1`, kind: 'Shard', metadata: metadata(name) }) }
}

test.each(['a built-in kind', 'a custom kind'])(
  'READ-23: two halves of the uid hash range together are the whole list of %s, and name their range',
  async (kind) => {
    const namespace = await aNamespace(server.api)
    const custom = kind === 'a custom kind' ? await aCustomKind(namespace) : undefined
    const path = custom?.path ?? configMapsIn(namespace)
    const made = await someOfEitherHalf(path, custom?.object ?? ((name) => configMap({ name })))
    for (const [at, query] of lowAndHigh.entries()) {
      const { body } = await server.api.get(`${path}?${query}`)
      expect(namesOfItems(body)).toEqual(namesIn(made, at === 0))
      expect(body.metadata['shardInfo']).toEqual({ selector: halves('uid')[at] })
      const inProtobuf = await server.api.get(`${path}?${query}`, { accept: 'application/vnd.orch.protobuf, application/json' })
      expect(inProtobuf.text).toContain(halves('uid')[at])
    }
    const both = asQuery(halves('uid').join(' || '))
    expect(namesOfItems((await server.api.get(`${path}?${both}`)).body)).toEqual(made.map(({ metadata }) => metadata.name))
    expect((await server.api.get(path)).body.metadata).not.toHaveProperty('shardInfo')
  },
)

test('READ-23: pages, Tables and metadata of a shard have only its objects', async () => {
  const path = configMapsIn(await aNamespace(server.api))
  const made = await someOfEitherHalf(path, (name) => configMap({ name }))
  const [low] = lowAndHigh
  const names: string[] = []
  let next = ''
  do {
    const { body } = await server.api.get(`${path}?${low}&limit=2${next === '' ? '' : `&continue=${next}`}`)
    expect(body.metadata).not.toHaveProperty('remainingItemCount')
    names.push(...namesOfItems(body))
    next = body.metadata.continue ?? ''
  } while (next !== '')
  expect(names).toEqual(namesIn(made, true))
  const shardInfo = { selector: halves('uid')[0] }
  const table = (await server.api.get(`${path}?${low}`, { accept: 'application/json;as=Table;v=v1;g=meta.orch.io' })).body
  expect((table['rows'] as { cells: string[] }[]).map(({ cells }) => cells[0])).toEqual(names)
  expect(table.metadata).toMatchObject({ shardInfo })
  const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.orch.io'
  const metadata = (await server.api.get(`${path}?${low}`, { accept })).body
  expect([namesOfItems(metadata), metadata.metadata['shardInfo']]).toEqual([names, shardInfo])
})

test.each(['a built-in kind', 'a custom kind'])('READ-23: a watch of a shard of %s shows only events of its objects', async (kind) => {
  const namespace = await aNamespace(server.api)
  const custom = kind === 'a custom kind' ? await aCustomKind(namespace) : undefined
  const path = custom?.path ?? configMapsIn(namespace)
  const { metadata } = (await server.api.get(path)).body
  const watches = await Promise.all(
    lowAndHigh.map((query) => server.api.watch(`${path}?watch=true&resourceVersion=${metadata.resourceVersion}&${query}`)),
  )
  const made = await someOfEitherHalf(path, custom?.object ?? ((name) => configMap({ name })))
  for (const { metadata } of made) {
    await server.api.patch(`${path}/${metadata.name}`, { metadata: { labels: { changed: 'yes' } } })
    await server.api.delete(`${path}/${metadata.name}`)
  }
  for (const [at, watch] of watches.entries()) {
    const names = namesIn(made, at === 0)
    const lives = names.flatMap((name) => [`MODIFIED ${name}`, `DELETED ${name}`])
    const events = await watch.take(names.length * 3)
    expect(events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([...names.map((name) => `ADDED ${name}`), ...lives])
  }
})

test('READ-23: all objects of one namespace are in one shard by namespace', async () => {
  const spaces = await Promise.all(Array.from({ length: 8 }, () => someConfigMaps(server.api, 'a', 'b')))
  const namespaces = spaces.map((path) => path.split('/')[4] ?? '')
  for (const [at, selector] of halves('namespace').entries()) {
    const { body } = await server.api.get(`/api/v1/configmaps?${asQuery(selector)}`)
    const found = new Set(body.items.map(({ metadata }) => metadata.namespace).filter((name) => namespaces.includes(name)))
    expect([...found].sort()).toEqual(namespaces.filter((name) => isLow(name) === (at === 0)).sort())
  }
})

test('READ-23: a deletion of a collection leaves the other shard, and an invalid selector is refused', async () => {
  const path = configMapsIn(await aNamespace(server.api))
  const made = await someOfEitherHalf(path, (name) => configMap({ name }))
  const [low] = lowAndHigh
  for (const method of ['GET', 'DELETE']) {
    const { status, body } = await server.api.send(method, `${path}?${asQuery("shardRange(object.metadata.name, '0x0', '0x8')")}`)
    expect([status, body['reason'], body['message']]).toEqual([400, 'BadRequest', expect.stringContaining('invalid shardSelector')])
  }
  expect((await server.api.send('DELETE', `${path}?${low}`)).status).toBe(200)
  const left = namesOfItems((await server.api.get(path)).body).filter((name) => name.startsWith('o-'))
  expect(left).toEqual(namesIn(made, false))
})

test('READ-23: without the gate a list is complete, and does not mention shards', async () => {
  const api = await anApi()
  const path = await someConfigMaps(api, 'a', 'b', 'c')
  for (const query of lowAndHigh) {
    const { body } = await api.get(`${path}?${query}`)
    expect(namesOfItems(body).filter((name) => name.length === 1)).toEqual(['a', 'b', 'c'])
    expect(body.metadata).not.toHaveProperty('shardInfo')
  }
})
