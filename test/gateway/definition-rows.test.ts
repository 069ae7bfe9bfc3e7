import { randomUUID } from 'node:crypto'
import { createCatalogue } from '@orch/core/catalogue'
import { decodeNamesRow, decodeServingRow, namesKey, servingKey } from '@orch/core/definitions'
import type { ApiObject } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { encodeExactly, encodeStoredObject } from '@orch/core/stored'
import { silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { DefinitionKeeper } from '../../services/gateway/src/definitions/definition-keeper.ts'
import { strategyOf } from '../../services/gateway/src/strategies/kind-hooks.ts'
import { createMemoryStore, createStorage } from '../../services/storage/src/index.ts'

const catalogue = createCatalogue('orch')
const resource = catalogue.find('apiextensions.orch.io', 'v1', 'customresourcedefinitions')!
const served = { resource, strategy: strategyOf(resource), name: { group: 'apiextensions.orch.io', resource: 'customresourcedefinitions' } }
const group = 'example.com'
const name = `widgets.${group}`
const key = `${resource.stored.prefix}/${name}`

function widgets(
  uid: string,
  { shortNames = ['w'], metadata = {}, status }: { shortNames?: string[]; metadata?: object; status?: unknown } = {},
) {
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames }
  const object = {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, uid, generation: 1, ...metadata },
    spec: { group, names, scope: 'Cluster', versions: [version] },
    ...(status !== undefined && { status }),
  }
  return object as ApiObject
}

/** A storage, and gateways that the test can kill at any point of a write. */
async function aCluster() {
  const store = createMemoryStore()
  const storage = await createStorage({ store })
  const clock = createFakeClock()
  const keepers: DefinitionKeeper[] = []
  onTestFinished(async () => {
    for (const keeper of keepers) keeper.close()
    storage.close()
    await store.close()
  })
  const aKeeper = () => {
    const names = namesOf('orch')
    const prefix = resource.stored.prefix
    const keeper = new DefinitionKeeper({
      level: 25,
      writeId: randomUUID,
      random: () => 0,
      storage,
      clock,
      log: silentLog,
      names,
      served: { find: () => undefined },
      prefix,
    })
    keepers.push(keeper)
    return keeper
  }
  const find = async (at: string) => (await storage.get({ key: at, read: { kind: 'latest' } })).entry
  const draft = (object: ApiObject, live?: ApiObject) =>
    ({ object, live: live && { object: live }, write: { target: { served }, options: { isDryRun: false } } }) as never
  return {
    storage,
    aKeeper,
    draft,
    names: async () => decodeNamesRow(await find(namesKey(group))).definitions,
    serving: async () => decodeServingRow(await find(servingKey(name))),
    /** Commits or removes a definition if the rows are unchanged. */
    async commit(object: ApiObject | undefined, conditions: readonly { key: string; revision: number }[] = []) {
      const expected = (await find(key))?.revision ?? 0
      const writeId = randomUUID()
      const value =
        object && encodeStoredObject({ stored: resource.stored, object, encoded: encodeExactly(object, false), writeId, expiresAtMs: 0 })
      return (await storage.commit({ key, expected, conditions: [...conditions], writeId, ...(value && { value }) })).kind
    },
    /** Long enough that left-over rows have been repaired. */
    async wait(untilSeconds = 10) {
      for (let seconds = 0; seconds < untilSeconds; seconds += 1) {
        clock.advance(1_000)
        for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

const accepted = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['w'] }
const whole = { uid: 'one', names: accepted }

test('a write of a definition waits until each of those before it in the group has had its turn', async () => {
  const { aKeeper, draft, wait } = await aCluster()
  const keeper = aKeeper()
  await keeper.reserve(draft(widgets('one')))
  const begun: string[] = []
  for (const uid of ['two', 'three']) void keeper.reserve(draft(widgets(uid))).then(() => begun.push(uid))
  await wait(4)
  expect(begun).toEqual(['two'])
  await wait(4)
  expect(begun).toEqual(['two', 'three'])
})

describe('CRD-148: a gateway that dies between the commits of a definition', () => {
  test('releases the names of an uncommitted create within 10 s', async () => {
    const { aKeeper, draft, names, serving, commit, wait } = await aCluster()
    const { conditions = [] } = await aKeeper().reserve(draft(widgets('one')))
    expect(await names()).toMatchObject({ [name]: whole })
    expect(await serving()).toMatchObject({ uid: 'one', isTerminating: false })
    await wait()
    expect([await names(), await serving()]).toEqual([{}, undefined])
    // The commit arrives late.
    expect(await commit(widgets('one'), conditions)).toBe('unmet')
  })

  test('releases the names of an uncommitted create when the first sweep failed', async () => {
    const { storage, aKeeper, draft, names, wait } = await aCluster()
    await aKeeper().reserve(draft(widgets('one')))
    vi.spyOn(storage, 'list').mockImplementationOnce(() => {
      throw new Error('storage restarts')
    })
    await wait()
    expect(await names()).toEqual({})
  })

  test('leaves a committed create complete', async () => {
    const { aKeeper, draft, names, serving, commit, wait } = await aCluster()
    const { object = widgets(''), conditions } = await aKeeper().reserve(draft(widgets('one')))
    expect(await commit(object, conditions)).toBe('written')
    await wait()
    expect(await names()).toEqual({ [name]: whole })
    expect(await serving()).toMatchObject({ uid: 'one', storageVersion: 'v1', scope: 'Cluster', isTerminating: false })
  })

  test.each([
    ['was not committed', false, ['w']],
    ['was committed', true, ['x']],
  ])('keeps the names of the definition after a change of names that %s', async (_title, isCommitted, shortNames) => {
    const { aKeeper, draft, names, commit, wait } = await aCluster()
    const first = await aKeeper().reserve(draft(widgets('one')))
    const live = first.object ?? widgets('')
    await commit(live, first.conditions)
    await first.settle()
    const change = widgets('one', { shortNames: ['x'], status: live.status })
    const second = await aKeeper().reserve(draft(change, live))
    // Until the outcome is known, no other definition can take either name.
    expect(await names()).toMatchObject({ [name]: { names: { shortNames: ['x'] }, former: { shortNames: ['w'] } } })
    if (isCommitted) await commit(second.object, second.conditions)
    await wait()
    expect(await names()).toEqual({ [name]: { uid: 'one', names: { ...accepted, shortNames } } })
  })

  test('allows new objects again after an uncommitted deletion', async () => {
    const { aKeeper, draft, serving, commit, wait } = await aCluster()
    const first = await aKeeper().reserve(draft(widgets('one')))
    const live = first.object ?? widgets('')
    await commit(live, first.conditions)
    await first.settle()
    const marked = widgets('one', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x/y'] }, status: live.status })
    const { conditions } = await aKeeper().reserveMark(draft(marked, live))
    expect(await serving()).toMatchObject({ isTerminating: true })
    await wait()
    expect(await serving()).toMatchObject({ uid: 'one', isTerminating: false })
    expect(await commit(marked, conditions)).toBe('unmet')
  })

  test('leaves no rows of a deleted definition', async () => {
    const { aKeeper, draft, names, serving, commit, wait } = await aCluster()
    const first = await aKeeper().reserve(draft(widgets('one')))
    const live = first.object ?? widgets('')
    await commit(live, first.conditions)
    await first.settle()
    const marked = widgets('one', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x/y'] }, status: live.status })
    const second = await aKeeper().reserveMark(draft(marked, live))
    await commit(marked, second.conditions)
    await wait()
    expect(await serving()).toMatchObject({ isTerminating: true })
    await commit(undefined)
    await wait()
    expect([await names(), await serving()]).toEqual([{}, undefined])
  })
})

test('a sweep of left-over rows waits for a create of their group that has not been committed', async () => {
  const { aKeeper, draft, commit, wait } = await aCluster()
  const keeper = aKeeper()
  const first = await keeper.reserve(draft(widgets('one')))
  await commit(first.object, first.conditions)
  await first.settle()
  // The next sweep is the first that repairs the row of the create.
  await wait(7)
  const second = await keeper.reserve(draft(widgets('two', { metadata: { name: `gadgets.${group}` } })))
  await wait(2)
  expect(await commit(first.object, second.conditions)).toBe('written')
})
