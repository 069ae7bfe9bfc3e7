import { objectKey } from '@orch/core/contracts'
import { aDelete, aPut, createFakeClock, listed, storageSuite, takeChanges, written } from '@orch/testkit'
import { fc } from '@orch/testkit/chance'
import { expect, onTestFinished, test } from 'vitest'
import { createStorage, type StateSnapshot, type Storage, type StorageOptions, storeOf } from './service.ts'
import { createMemoryStore } from './store/memory-store.ts'

const everything = { resources: [] }
const keyOf = (name: string) => objectKey('core/configmaps', 'default', name)

/** A separate service: a fork of another service, or empty. */
async function opened(from?: StateSnapshot, options: Partial<StorageOptions> = {}): Promise<Storage> {
  const store = createMemoryStore({ from: from === undefined ? undefined : storeOf(from) })
  const storage = await createStorage({ store, from, ...options })
  onTestFinished(async () => {
    storage.close()
    await store.close()
  })
  return storage
}

storageSuite('a fork', async () => {
  const base = await opened()
  const store = createMemoryStore({ from: storeOf(base.snapshot()) })
  const storage = await createStorage({ store, from: base.snapshot() })
  return {
    storage,
    async close() {
      storage.close()
      await store.close()
    },
  }
})

/** One history of writes, and its stored objects: names with revisions and texts. */
interface World {
  readonly storage: Storage
  readonly model: Map<string, string>
  /** The content at each revision. */
  readonly past: Map<number, string[]>
}

const contentOf = (model: ReadonlyMap<string, string>) =>
  [...model].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, text]) => `${name} ${text}`)
const shownBy = async (storage: Storage, at?: number) => {
  const read = at === undefined ? ({ kind: 'latest' } as const) : ({ kind: 'exact', revision: at, asked: String(at) } as const)
  return (await listed(storage, { read })).objects.map(({ metadata, data }) => `${metadata.name} ${metadata.resourceVersion} ${data.text}`)
}

async function step(world: World, name: string, text: string): Promise<void> {
  const { storage, model, past } = world
  const { entry } = await storage.get({ key: keyOf(name), read: { kind: 'latest' } })
  const isDeletion = entry !== undefined && text.endsWith('0')
  const request = isDeletion ? aDelete(keyOf(name), entry.revision) : aPut({ name, data: text }, { expected: entry?.revision ?? 0 })
  const revision = await written(storage, request)
  if (isDeletion) model.delete(name)
  else model.set(name, `${revision} ${text}`)
  past.set(revision, contentOf(model))
}

test('forks and their base never see each other’s writes, at present and in the past, however they are forked and written to', async () => {
  const steps = fc.array(fc.record({ world: fc.nat(30), isFork: fc.boolean(), name: fc.nat(90), writes: fc.nat(12) }), {
    minLength: 10,
    maxLength: 25,
  })
  await fc.assert(
    fc.asyncProperty(steps, async (todo) => {
      const worlds: World[] = [{ storage: await opened(undefined, { historyBytesMax: 6_000 }), model: new Map(), past: new Map() }]
      let count = 0
      for (const { world, isFork, name, writes } of todo) {
        const one = worlds[world % worlds.length]
        if (one === undefined) continue
        if (isFork) {
          const storage = await opened(one.storage.snapshot(), { historyBytesMax: 6_000 })
          worlds.push({ storage, model: new Map(one.model), past: new Map(one.past) })
        }
        for (let write = 0; write < writes; write++) await step(one, `n${(name + write * 7) % 90}`, `t${count++}`)
      }
      for (const { storage, model, past } of worlds) {
        expect(await shownBy(storage)).toEqual(contentOf(model))
        for (const [revision, content] of past) expect(await shownBy(storage, revision), `at ${revision}`).toEqual(content)
        const { epoch, compacted } = await storage.status({})
        const changes = await takeChanges(storage.changes({ after: compacted, epoch, ...everything }), past.size)
        expect(changes.map((line) => Number(line.split(' ')[0]))).toEqual([...past.keys()])
      }
    }),
    { numRuns: 6 },
  )
})

test('a fork has the epoch and the revisions of its base, so that lists and watches of the base continue in it, until a restore', async () => {
  const base = await opened()
  for (const name of ['a', 'b', 'c']) await written(base, aPut({ name }))
  const { head } = await listed(base, { limit: 1 })
  const start = await base.status({})
  const fork = await opened(base.snapshot())
  await written(fork, aPut({ name: 'd' }))
  const page = { kind: 'page', revision: head.revision, epoch: head.epoch } as const
  expect((await listed(fork, { read: page, start: head.next ?? '' })).names).toEqual(['b', 'c'])
  expect(await takeChanges(fork.changes({ after: start.revision, epoch: start.epoch, ...everything }), 1)).toEqual([`5 +${keyOf('d')} `])
  await fork.restore(fork.snapshot())
  await expect(listed(fork, { read: page, start: head.next ?? '' })).rejects.toMatchObject({ code: 410 })
  expect((await listed(base, { read: page, start: head.next ?? '' })).names).toEqual(['b', 'c'])
})

test('an open stream of the base has only changes of the base', async () => {
  const base = await opened()
  const { epoch, revision } = await base.status({})
  const stream = base.changes({ after: revision, epoch, ...everything })
  const fork = await opened(base.snapshot())
  await written(fork, aPut({ name: 'forked' }))
  await written(base, aPut({ name: 'a' }))
  await written(base, aPut({ name: 'b' }))
  expect(await takeChanges(stream, 2)).toEqual([`2 +${keyOf('a')} `, `3 +${keyOf('b')} `])
})

test('objects expire in each fork at their time', async () => {
  const clock = createFakeClock()
  const base = await opened(undefined, { clock })
  await written(base, aPut({ name: 'old', expiresAtMs: clock.now() + 1_000 }))
  await written(base, aPut({ name: 'young', expiresAtMs: clock.now() + 9_000 }))
  const fork = await opened(base.snapshot(), { clock })
  base.close()
  clock.advance(5_000)
  await expect.poll(async () => (await listed(fork)).names).toEqual(['young'])
  expect((await listed(base)).names).toEqual(['old', 'young'])
})

test('a snapshot outlives its service, and a fork at depth one thousand has the writes of every fork above it', async () => {
  let storage = await opened()
  for (let index = 0; index < 1_000; index++) {
    await written(storage, aPut({ name: `n${index % 10}`, data: String(index) }, { expected: index < 10 ? 0 : index - 8 }))
    const from = storage.snapshot()
    storage.close()
    storage = await opened(from)
  }
  expect((await listed(storage)).objects.map(({ data }) => data.text)).toEqual(Array.from({ length: 10 }, (_, name) => String(990 + name)))
  expect(await shownBy(storage, 5)).toEqual(['n0 2 0', 'n1 3 1', 'n2 4 2', 'n3 5 3'])
})

test('an edited text in a fork differs at the same revision in the fork’s past, and not in the base', async () => {
  const base = await opened()
  const revision = await written(base, aPut({ name: 'a', data: 'port 1' }))
  await written(base, aPut({ name: 'b', data: 'port 1' }))
  const fork = await opened(base.snapshot())
  fork.amend(keyOf('a'), (text) => text.replace('port 1', 'port 23456'))
  fork.amend(keyOf('absent'), () => '')
  const changed = [`a ${revision} port 23456`, 'b 3 port 1']
  expect([await shownBy(fork), await shownBy(base)]).toEqual([changed, [`a ${revision} port 1`, 'b 3 port 1']])
  const { epoch } = await fork.status({})
  expect((await takeChanges(fork.changes({ after: 1, epoch, ...everything }), 2))[0]).toBe(`2 +${keyOf('a')} port 23456`)
  await written(fork, aPut({ name: 'a', data: 'new' }, { expected: revision }))
  expect(await shownBy(fork, 3)).toEqual(changed)
  expect(await shownBy(await opened(fork.snapshot(), { historyBytesMax: 0 }), 3)).toEqual(changed)
})

test('a snapshot belongs to a storage service, and a store in memory starts only from a snapshot of a store in memory', async () => {
  const base = await opened()
  await expect(base.restore({ revision: 1 })).rejects.toThrow('a snapshot is made by snapshot()')
  expect(() => createMemoryStore({ from: { revision: 1 } })).toThrow('a store begins with a snapshot of a store in memory')
})
