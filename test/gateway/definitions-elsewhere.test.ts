import type { StorageService } from '@orch/core/contracts'
import { decodeNamesRow, decodeServingRow, namesKey, servingKey } from '@orch/core/definitions'
import { createFakeClock } from '@orch/testkit'
import { describe, expect, test } from 'vitest'
import { aGateway, aStorage, merge, type Spoil } from './own-gateway.ts'

const group = 'example.com'
const name = `widgets.${group}`
const prefix = 'apiextensions.orch.io/customresourcedefinitions'
const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const collection = `/apis/${group}/v1/widgets`
const object = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' } }

interface Wanted {
  readonly scope?: string
  readonly shortNames?: readonly string[]
  readonly versions?: readonly object[]
  readonly metadata?: object
  readonly as?: string
}

const version = (of: string, more: object = {}) => ({
  name: of,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object' } },
  ...more,
})

function definition({ scope = 'Cluster', shortNames = ['w'], versions = [version('v1')], metadata = {}, as = 'widgets' }: Wanted = {}) {
  const names = { plural: as, singular: as.slice(0, -1), kind: 'Widget', listKind: 'WidgetList', shortNames }
  return {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${as}.${group}`, ...metadata },
    spec: { group, scope, names, versions },
  }
}

/** A gateway that sees no changes of definitions and their rows, and on demand no `get` of a definition. */
function blind(gate: { open: Promise<void> } = { open: Promise.resolve() }): Spoil {
  return (storage: StorageService) => ({
    changes: (request, context) => {
      if (request.resources?.some((resource) => resource === prefix || resource.startsWith('definitions/')) !== true)
        return storage.changes(request, context)
      const nothing = (async function* () {
        await new Promise(() => {})
      })()
      return Object.assign(nothing, { close() {} }) as unknown as ReturnType<StorageService['changes']>
    },
    get: async (request, context) => {
      const found = await storage.get(request, context)
      if (request.key.startsWith(prefix)) await gate.open
      return found
    },
  })
}

/** Two gateways of one storage; the second reads only the definitions that it requests. */
async function twoGateways(gate?: { open: Promise<void> }) {
  const storage = await aStorage()
  const [first, second] = [await aGateway(undefined, {}, storage), await aGateway(blind(gate), {}, storage)]
  await Promise.all([first.loadDefinitions(), second.loadDefinitions()])
  const keys = async () => {
    const found: string[] = []
    const listed = storage.list({
      scope: { resource: `${group}/widgets` },
      selection: { labels: [], fields: [] },
      read: { kind: 'latest' },
      limit: 0,
      start: '',
      layout: 'entries',
    })
    for await (const part of listed) if (part.kind === 'entries') found.push(...part.entries.map(({ key }) => key))
    return found
  }
  const remove = async () => {
    expect((await first.call('DELETE', `${definitions}/${name}`)).code).toBe(200)
    expect((await first.call('PATCH', `${definitions}/${name}`, { metadata: { finalizers: null } }, merge)).code).toBe(200)
    expect((await first.call('GET', `${definitions}/${name}`)).code).toBe(404)
  }
  return { first: first.call, second: second.call, keys, remove, storage }
}

describe('a gateway without the news of a definition that another gateway has acknowledged', () => {
  test('serves the definition', async () => {
    const { first, second } = await twoGateways()
    expect((await second('GET', collection)).code).toBe(404)
    expect((await first('POST', definitions, definition())).code).toBe(201)
    expect((await second('GET', collection)).code).toBe(200)
    expect((await second('POST', collection, object)).code).toBe(201)
  })

  test('ignores an older answer for it than the acknowledgement', async () => {
    const opened = Promise.withResolvers<void>()
    const gate = { open: opened.promise }
    const { first, second } = await twoGateways(gate)
    // Storage has answered that no definition exists, and the answer is still on its way.
    const before = second('GET', collection)
    await new Promise((resolve) => setImmediate(resolve))
    expect((await first('POST', definitions, definition())).code).toBe(201)
    const after = [second('GET', collection), second('GET', collection)]
    opened.resolve()
    expect((await before).code).toBe(404)
    expect((await Promise.all(after)).map(({ code }) => code)).toEqual([200, 200])
    expect((await second('GET', `/apis/${group}/v1/others`)).code).toBe(404)
  })

  test('READ-24: serves a version, a subresource and a scope that were added later', async () => {
    const { first, second, remove } = await twoGateways()
    await first('POST', definitions, definition())
    expect((await second('POST', collection, object)).code).toBe(201)
    expect((await second('GET', `${collection}/a/status`)).code).toBe(404)
    const later = { spec: { versions: [version('v1', { subresources: { status: {} } }), version('v2', { storage: false })] } }
    expect((await first('PATCH', `${definitions}/${name}`, later, merge)).code).toBe(200)
    expect((await second('GET', `${collection}/a/status`)).code).toBe(200)
    expect((await second('GET', `/apis/${group}/v2/widgets`)).code).toBe(200)
    expect((await first('DELETE', `${collection}/a`)).code).toBe(200)
    await remove()
    expect((await first('POST', definitions, definition({ scope: 'Namespaced' }))).code).toBe(201)
    expect((await second('GET', `/apis/${group}/v1/namespaces/default/widgets/a`)).code).toBe(404)
    expect((await second('GET', `/apis/${group}/v1/namespaces/default/widgets`)).code).toBe(200)
  })
})

test('200 definitions are created one after the other, each followed by an object through the other gateway', async () => {
  const { first, second } = await twoGateways()
  const plurals = Array.from({ length: 200 }, (_, index) => `kinds${index}`)
  const kindOf = (plural: string) => `Kind${plural.slice(5)}`
  for (const plural of plurals) {
    const one = definition({ as: plural, shortNames: [] })
    const spec = {
      ...one.spec,
      names: { plural, singular: kindOf(plural).toLowerCase(), kind: kindOf(plural), listKind: `${kindOf(plural)}List` },
    }
    expect((await first('POST', definitions, { ...one, spec })).code).toBe(201)
  }
  const created = await Promise.all(
    plurals.map((plural) => second('POST', `/apis/${group}/v1/${plural}`, { ...object, kind: kindOf(plural) })),
  )
  expect(created.filter(({ code }) => code !== 201)).toEqual([])
  expect((await first('GET', `/apis/${group}/v1`)).body).toMatchObject({ resources: { length: 200 } })
})

describe('CRD-148: a gateway without the news that a definition is deleted', () => {
  test('creates nothing once the deletion has begun, and continues if it has not', async () => {
    const { first, second, keys } = await twoGateways()
    await first('POST', definitions, definition())
    expect((await second('POST', collection, object)).code).toBe(201)
    await first('DELETE', `${definitions}/${name}`)
    const late = { ...object, metadata: { name: 'late' } }
    expect(await second('POST', collection, late)).toMatchObject({ code: 405 })
    expect(await second('PATCH', `${collection}/late?fieldManager=x`, late, 'application/apply-patch+yaml')).toMatchObject({ code: 403 })
    expect(await keys()).toEqual([`${group}/widgets/a`])
  })

  test('creates nothing after the definition is deleted', async () => {
    const { first, second, keys, remove } = await twoGateways()
    await first('POST', definitions, definition())
    expect((await second('GET', collection)).code).toBe(200)
    await remove()
    expect(await second('POST', collection, object)).toMatchObject({ code: 404 })
    expect(await second('GET', collection)).toMatchObject({ code: 404 })
    expect(await keys()).toEqual([])
  })

  test('CRD-147: creates nothing under the old definition once another of its name exists', async () => {
    const { first, second, keys, remove } = await twoGateways()
    const strict = {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', required: ['size'], properties: { size: { type: 'integer' } } } },
        required: ['spec'],
      },
    }
    await first('POST', definitions, definition())
    expect((await second('GET', collection)).code).toBe(200)
    await remove()
    expect((await first('POST', definitions, definition({ versions: [version('v1', { schema: strict })] }))).code).toBe(201)
    expect(await second('POST', collection, object)).toMatchObject({
      code: 503,
      body: { message: `the definition ${name} has been changed; try again` },
    })
    expect((await second('POST', collection, object)).code).toBe(422)
    expect((await second('POST', collection, { ...object, spec: { size: 1 } })).code).toBe(201)
    expect(await keys()).toEqual([`${group}/widgets/a`])
  })

  test('creates objects of a definition with a lost row, and none during its deletion', async () => {
    const { first, storage, keys } = await twoGateways()
    await first('POST', definitions, definition())
    const { entry } = await storage.get({ key: servingKey(name), read: { kind: 'latest' } })
    await storage.commit({ key: servingKey(name), expected: entry!.revision, conditions: [], writeId: 'lost' })
    expect((await first('POST', collection, object)).code).toBe(201)
    await first('DELETE', `${definitions}/${name}`)
    expect((await first('POST', collection, { ...object, metadata: { name: 'late' } })).code).toBe(405)
    expect(await keys()).toEqual([`${group}/widgets/a`])
  })
})

const writes = {
  'a create': { isThere: false, write: ['POST', definitions, definition()] },
  'a change of names': { isThere: true, write: ['PATCH', `${definitions}/${name}`, { spec: { names: { shortNames: ['x'] } } }, merge] },
  'a deletion': { isThere: true, write: ['DELETE', `${definitions}/${name}`] },
} as const

const deaths = (['a create', 'a change of names', 'a deletion'] as const).flatMap((what) =>
  [0, 1, 2, 3].map((commits) => [what, commits] as const),
)

describe('CRD-148: a gateway that is killed while it writes a definition', () => {
  test.each(deaths)('leaves a consistent state during %s, after %i of its commits', async (what, commits) => {
    const storage = await aStorage()
    const clock = createFakeClock(Date.UTC(2026, 0, 1))
    const life = { commits: Number.POSITIVE_INFINITY }
    const mortal: Spoil = () => ({
      commit: (request, context) => {
        life.commits -= 1
        return life.commits < 0 ? new Promise(() => {}) : storage.commit(request, context)
      },
    })
    const [killed, other] = [await aGateway(mortal, { clock }, storage), await aGateway(undefined, { clock }, storage)]
    await Promise.all([killed.loadDefinitions(), other.loadDefinitions()])
    const { isThere, write } = writes[what]
    if (isThere) expect((await other.call('POST', definitions, definition())).code).toBe(201)
    expect((await other.call('GET', collection)).code).toBe(isThere ? 200 : 404)
    life.commits = commits
    const [method, path, body, type] = write
    const answer = killed.call(method, path, body, type).catch(() => undefined)
    const quiet = async () => {
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    }
    await quiet()
    life.commits = 0
    for (let seconds = 0; seconds < 10; seconds += 1) {
      clock.advance(1_000)
      await quiet()
    }
    void answer
    const rowOf = async () => ({
      names: decodeNamesRow((await storage.get({ key: namesKey(group), read: { kind: 'latest' } })).entry).definitions,
      serving: decodeServingRow((await storage.get({ key: servingKey(name), read: { kind: 'latest' } })).entry),
    })
    const stored = await other.call('GET', `${definitions}/${name}`)
    const { metadata, status } = stored.body as unknown as {
      readonly metadata: { readonly uid: string; readonly deletionTimestamp?: string }
      readonly status?: {
        readonly acceptedNames: object
        readonly conditions: readonly { readonly type: string; readonly status: string }[]
      }
    }
    const { names, serving } = await rowOf()
    if (stored.code === 404) {
      expect({ names, serving }).toEqual({ names: {}, serving: undefined })
      // Another definition can now take its names.
      expect((await other.call('POST', definitions, definition({ as: 'gadgets', shortNames: ['w'] }))).code).toBe(201)
      expect(await other.call('GET', `${definitions}/gadgets.${group}`)).toMatchObject({
        body: { status: { acceptedNames: { shortNames: ['w'], kind: 'Widget' } } },
      })
      expect((await other.call('GET', collection)).code).toBe(404)
      return
    }
    const isGoing = metadata.deletionTimestamp !== undefined
    expect(names[name]).toMatchObject({ uid: metadata.uid, names: status?.acceptedNames })
    expect(names[name]).not.toHaveProperty('former')
    expect(serving).toEqual({ uid: metadata.uid, storageVersion: 'v1', scope: 'Cluster', isTerminating: isGoing })
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Established', status: 'True' }))
    expect((await other.call('POST', collection, object)).code).toBe(isGoing ? 405 : 201)
  })
})
