import type { SharedStore, Store } from '@orch/core/contracts'
import { createMetrics } from '@orch/platform'
import { aPut, createFakeClock, written } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { createStorage } from './service.ts'
import { createMemoryStore } from './store/memory-store.ts'

const fiveMinutesMs = 300_000
/** Waits until all ready work is done. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

/** The false answers of the store. */
interface Lies {
  /** Revisions in place of the stored ones; 0: the key is absent. */
  readonly revisions: Map<string, number>
  readonly further: string[]
  isAway: boolean
  /** The store's lead over memory. */
  ahead: number
}

/** A storage with two ConfigMaps and a Secret, over a store that others write to as well. */
async function open() {
  const inner = createMemoryStore()
  const lies: Lies = { revisions: new Map(), further: [], isAway: false, ahead: 0 }
  let visits = 0
  const shared: SharedStore = {
    latest: () => Promise.resolve(inner.status().revision),
    askPosition: () => true,
    onReplaced: () => () => {},
    onReachable: () => () => {},
    members: async () => [],
    async visitRevisions(show) {
      visits += 1
      if (lies.isAway) throw new Error('the store is away')
      const { revision } = inner.status()
      await inner.visit((record) => {
        const told = lies.revisions.get(record.key) ?? record.revision
        if (told !== 0) show(record.key, told)
      })
      for (const key of lies.further) show(key, revision)
      return revision + lies.ahead
    },
    mayLoseChanges: false,
  }
  const store: Store = new Proxy(inner, {
    get(target, name) {
      if (name === 'shared') return shared
      if (name === 'adopt') return undefined
      const member = target[name as keyof Store]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const clock = createFakeClock()
  const metrics = createMetrics({ process: false })
  const errors: string[] = []
  const onError = (error: unknown, what: string) => void errors.push(`${what}: ${error}`)
  const storage = await createStorage({ store, clock, metrics, onError })
  onTestFinished(async () => {
    storage.close()
    await inner.close()
    expect(clock.pendingTimers).toBe(0)
  })
  for (const name of ['a', 'b']) await written(storage, aPut({ name }))
  await written(storage, aPut({ name: 's', resource: 'core/secrets', kind: 'Secret' }))
  const counts = async () => {
    const lines = (await metrics.text()).matchAll(
      /^apiserver_storage_consistency_checks_total\{group="",resource="(\w+)",status="(\w+)"\} (\d+)/gm,
    )
    return [...lines].map(([, resource, status, count]) => `${resource} ${status} ${count}`).sort()
  }
  return { storage, clock, lies, errors, counts, visits: () => visits, revision: async () => (await storage.status({})).revision }
}

test('READ-21: every five minutes memory is compared with the store, and the result is counted for each resource', async () => {
  const { clock, counts, errors, visits } = await open()
  clock.advance(fiveMinutesMs - 1)
  expect(visits()).toBe(0)
  clock.advance(1)
  expect(visits()).toBe(1)
  await settle()
  expect(await counts()).toEqual(['configmaps success 1', 'secrets success 1'])
  clock.advance(fiveMinutesMs)
  await settle()
  expect(await counts()).toEqual(['configmaps success 2', 'secrets success 2'])
  expect(errors).toEqual([])
})

test.each<[string, (lies: Lies) => void]>([
  ['has an object with another revision', ({ revisions }) => void revisions.set(aPut({ name: 'a' }).key, 99)],
  ['lacks an object', ({ revisions }) => void revisions.set(aPut({ name: 'b' }).key, 0)],
  ['has one object more', ({ further }) => void further.push(aPut({ name: 'c' }).key)],
])('READ-21: if the store %s, a failure is counted for the affected resource only, and the log names it', async (_what, lie) => {
  const { clock, lies, counts, errors, revision } = await open()
  lie(lies)
  clock.advance(fiveMinutesMs)
  await settle()
  expect(await counts()).toEqual(['configmaps failure 1', 'secrets success 1'])
  const message = `memory is not as the store at revision ${await revision()}: core/configmaps`
  expect(errors).toEqual([`comparing memory with the store: Error: ${message}`])
})

test('READ-21: a comparison without an answer of the store is counted as an error, and the next comparison follows', async () => {
  const { clock, lies, counts, errors } = await open()
  lies.isAway = true
  clock.advance(fiveMinutesMs)
  await settle()
  expect(await counts()).toEqual(['configmaps error 1', 'secrets error 1'])
  expect(errors).toEqual(['comparing memory with the store: Error: the store is away'])
  lies.isAway = false
  clock.advance(fiveMinutesMs)
  await settle()
  expect(await counts()).toContain('configmaps success 1')
})

test('a store that is newer than memory is not compared with it', async () => {
  const { clock, lies, counts, visits } = await open()
  lies.ahead = 1
  clock.advance(fiveMinutesMs)
  expect(visits()).toBe(1)
  await settle()
  expect(await counts()).toEqual([])
  lies.ahead = 0
  clock.advance(fiveMinutesMs)
  await settle()
  expect(await counts()).toEqual(['configmaps success 1', 'secrets success 1'])
})
