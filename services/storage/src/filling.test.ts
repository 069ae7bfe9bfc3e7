import type { Freshness } from '@orch/core/contracts'
import { StatusError } from '@orch/core/meta'
import { aPut, createFakeClock, createRefilledStore, listed, shown, written } from '@orch/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { limits } from './limits.ts'
import { createStorage } from './service.ts'
import { createMemoryStore } from './store/memory-store.ts'

const put = aPut({ name: 'a' })
const settle = () => new Promise((resolve) => setImmediate(resolve))
const initializing = {
  code: 429,
  reason: 'TooManyRequests',
  message: 'storage is (re)initializing',
  details: { retryAfterSeconds: 1 },
}

/** A storage with one object that refills its memory until `fill` is called. */
async function openFilling() {
  const inner = createMemoryStore()
  const { store, refill } = createRefilledStore(inner)
  const clock = createFakeClock()
  const storage = await createStorage({ store, clock })
  onTestFinished(async () => {
    storage.close()
    await inner.close()
  })
  const revision = await written(storage, put)
  const fill = refill()
  return { storage, clock, revision, fill }
}

/** The result of a read: its error status, `answered`, or undefined while it waits. */
function outcomeOf(reading: Promise<unknown>) {
  const seen: { outcome?: unknown } = {}
  reading.then(
    () => {
      seen.outcome = 'answered'
    },
    (error: unknown) => {
      seen.outcome = error instanceof StatusError ? error.status : error
    },
  )
  return seen
}

describe('while memory is loading', () => {
  test.each<readonly [string, (revision: number, epoch: string) => Freshness]>([
    ['at its latest', () => ({ kind: 'latest' })],
    ['not older than a revision', (revision) => ({ kind: 'notOlderThan', revision, asked: String(revision) })],
    ['at exactly a revision', (revision) => ({ kind: 'exact', revision, asked: String(revision) })],
    ['of a later page', (revision, epoch) => ({ kind: 'page', revision, epoch })],
    ['that a watch begins with', () => ({ kind: 'any', beginsWatch: true })],
  ])('READ-15: a read %s is refused at once with 429, and answered afterwards', async (_, readAt) => {
    const { storage, revision, fill } = await openFilling()
    const { epoch } = await storage.status({})
    const read = readAt(revision, epoch)
    await expect(storage.get({ key: put.key, read })).rejects.toMatchObject({ status: initializing })
    await expect(listed(storage, { read })).rejects.toMatchObject({ status: initializing })
    fill()
    await settle()
    expect((await storage.get({ key: put.key, read })).entry).toMatchObject({ revision })
    expect((await listed(storage, { read })).names).toEqual(['a'])
  })

  test('READ-15: a get and a list of loaded objects wait', async () => {
    const { storage, revision, fill } = await openFilling()
    const [got, list] = [storage.get({ key: put.key, read: { kind: 'any' } }), listed(storage, { read: { kind: 'any' } })]
    const seen = [outcomeOf(got), outcomeOf(list)]
    await settle()
    expect(seen).toEqual([{}, {}])
    fill()
    expect((await got).entry).toMatchObject({ revision })
    expect((await list).names).toEqual(['a'])
  })

  test('READ-15: a waiting read is refused with 429 when it takes too long', async () => {
    const { storage, clock } = await openFilling()
    const seen = outcomeOf(storage.get({ key: put.key, read: { kind: 'any' } }))
    await settle()
    clock.advance(limits.fillingWaitMs - 1)
    await settle()
    expect(seen).toEqual({})
    clock.advance(1)
    await settle()
    expect(seen).toMatchObject({ outcome: initializing })
  })

  test('a request for a past state waits', async () => {
    const { storage, clock, revision, fill } = await openFilling()
    const answer = storage.getAt({ key: put.key, revision })
    const seen = outcomeOf(answer)
    clock.advance(limits.revisionWaitMs - 1)
    await settle()
    expect(seen).toEqual({})
    fill()
    expect(shown((await answer).entry!.value).metadata.name).toBe('a')
  })
})
