import type { SharedStore, Store, StoreChange } from '@orch/core/contracts'
import { createMetrics } from '@orch/platform'
import { aPut, createFakeClock, listed, written } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { limits } from './limits.ts'
import { createStorage } from './service.ts'
import { createMemoryStore } from './store/memory-store.ts'

const latest = { kind: 'latest' } as const
const settle = () => new Promise((resolve) => setImmediate(resolve))

/** A store to which another storage also writes. The test releases the changes. */
function sharedStore() {
  const inner = createMemoryStore()
  const held: (() => void)[] = []
  const at = { isHolding: false, isAway: false, revision: inner.status().revision }
  const shared: SharedStore = {
    latest: () => Promise.resolve(inner.status().revision),
    askPosition: () => true,
    onReplaced: () => () => {},
    onReachable: () => () => {},
    visitRevisions: () => Promise.reject(new Error('not compared here')),
    members: async () => [],
    mayLoseChanges: false,
  }
  const store: Store = {
    shared,
    commit: (commit) => inner.commit(commit),
    getAt: (key, revision) => (at.isAway ? Promise.reject(new Error('the store is away')) : inner.getAt(key, revision)),
    recordAt: (key, revision) => inner.recordAt(key, revision),
    count: (range) => inner.count(range),
    range: (range) => inner.range(range),
    history: (after, limit) => inner.history(after, limit),
    visit: (show) => inner.visit(show),
    listen: (listener) =>
      inner.listen((changes: readonly StoreChange[]) => {
        const deliver = () => {
          at.revision = changes.at(-1)?.revision ?? at.revision
          listener(changes)
        }
        if (at.isHolding) held.push(deliver)
        else deliver()
      }),
    compact: (revision) => inner.compact(revision),
    renewEpoch: () => inner.renewEpoch(),
    status: () => ({ ...inner.status(), revision: at.revision }),
    close: () => inner.close(),
  }
  const release = () => {
    at.isHolding = false
    for (const deliver of held.splice(0)) deliver()
  }
  return { inner, store, at, release }
}

/** A storage whose memory lacks `b`, which another one has written. */
async function openBehind() {
  const { inner, store, at, release } = sharedStore()
  const clock = createFakeClock()
  const metrics = createMetrics({ process: false })
  const storage = await createStorage({ store, clock, metrics })
  const writer = await createStorage({ store: inner, clock })
  onTestFinished(async () => {
    storage.close()
    writer.close()
    await inner.close()
  })
  await written(writer, aPut({ name: 'a' }))
  at.isHolding = true
  const revision = await written(writer, aPut({ name: 'b' }))
  const { key } = aPut({ name: 'b' })
  const [group = '', resource = ''] = key.split('/')
  const counted = async (outcome: string) => {
    const name = `apiserver_watch_cache_consistent_read_total{group="${group === 'core' ? '' : group}",resource="${resource}",${outcome}} `
    const line = (await metrics.text()).split('\n').find((one) => one.startsWith(name))
    return line === undefined ? 0 : Number(line.slice(name.length))
  }
  /** Ends both waits of the reads that are under way. */
  const passTime = async () => {
    await settle()
    clock.advance(limits.behindPatienceMs)
    await settle()
    clock.advance(limits.revisionWaitMs)
  }
  return { storage, clock, at, release, revision, key, counted, passTime }
}

test('READ-09: a get for which memory is not current within 3 s is answered from the store, and counted', async () => {
  const { storage, clock, revision, key, counted } = await openBehind()
  let isAnswered = false
  const reading = storage.get({ key, read: latest }).finally(() => {
    isAnswered = true
  })
  await settle()
  clock.advance(limits.behindPatienceMs)
  await settle()
  clock.advance(2_999)
  await settle()
  expect(isAnswered).toBe(false)
  clock.advance(1)
  expect(await reading).toMatchObject({ revision, entry: { revision } })
  expect(await counted('success="true",fallback="true"')).toBe(1)
  expect(await counted('success="true",fallback="false"')).toBe(0)
})

test('READ-09: a list falls back to the store too, at the newest revision', async () => {
  const { storage, revision, counted, passTime } = await openBehind()
  const listing = listed(storage, { read: latest })
  await passTime()
  const { head, names } = await listing
  expect({ revision: head.revision, names }).toEqual({ revision, names: ['a', 'b'] })
  expect(await counted('success="true",fallback="true"')).toBe(1)
})

test('READ-09: memory that is current in time answers, which is counted without a fallback', async () => {
  const { storage, clock, release, revision, key, counted } = await openBehind()
  const reading = storage.get({ key, read: latest })
  await settle()
  clock.advance(limits.behindPatienceMs)
  await settle()
  release()
  expect(await reading).toMatchObject({ revision, entry: { revision } })
  expect(await counted('success="true",fallback="false"')).toBe(1)
  expect(await counted('success="true",fallback="true"')).toBe(0)
})

test('READ-09: a fallback to a store that gives no answer fails, and is counted as failed', async () => {
  const { storage, at, key, counted, passTime } = await openBehind()
  at.isAway = true
  const reading = storage.get({ key, read: latest })
  const failed = expect(reading).rejects.toThrow('the store is away')
  await passTime()
  await failed
  expect(await counted('success="false",fallback="true"')).toBe(1)
})
