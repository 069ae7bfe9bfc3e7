import { Reflector, silentLog } from '@orch/platform'
import { aPut, aSubscription, createFakeClock, written } from '@orch/testkit'
import { expect, test } from 'vitest'
import { createWatchHub } from '../../services/gateway/src/watch-hub/index.ts'
import { createMemoryStore, createStorage } from '../../services/storage/src/index.ts'
import { createWatch, unconverted } from '../../services/watch/src/index.ts'
import { recordingSink } from './seen-events.ts'

const turns = async () => {
  for (let round = 0; round < 5; round += 1) await new Promise<void>((resolve) => setImmediate(resolve))
}

test('WATCH-22: a store that is restored three times ends open watches, refuses earlier revisions, and serves new ones', async () => {
  const clock = createFakeClock()
  const environment = { clock, log: silentLog, random: () => 0 }
  const storage = await createStorage({ store: createMemoryStore(), clock })
  const watch = createWatch({ ...environment, storage, convertOf: () => unconverted })
  const hub = createWatchHub({ ...environment, watch })
  const attach = (after: number, epoch: string) => {
    const seen: string[] = []
    const sink = recordingSink(seen)
    hub.attach({ request: aSubscription({ after, epoch }), sink })
    return seen
  }

  const empty = storage.snapshot()
  const before = await storage.status({})
  const open = [attach(before.revision, before.epoch), attach(before.revision, '')]
  await written(storage, aPut({ name: 'a', data: 'one' }))
  await turns()
  // The clock does not move, so nothing may wait for it between two restores.
  for (let round = 0; round < 3; round += 1) {
    await storage.restore(empty)
    await turns()
  }
  expect(open.map((seen) => seen.at(-1))).toEqual(['replaced', 'replaced'])
  expect(open.map((seen) => seen[0])).toEqual(['event one', 'event one'])

  const after = await storage.status({})
  expect(after.revision).toBeGreaterThan(before.revision)
  const old = [attach(before.revision, before.epoch), attach(before.revision, '')]
  const fresh = [attach(after.revision, after.epoch), attach(after.revision, '')]
  await written(storage, aPut({ name: 'b', data: 'two' }))
  await turns()
  expect(old).toEqual([['replaced'], ['expired']])
  expect(fresh).toEqual([['event two'], ['event two']])

  hub.close()
  watch.close()
  storage.close()
})

test('a reflector shows the later objects of a store that is restored three times, without a pause', async () => {
  const clock = createFakeClock()
  const storage = await createStorage({ store: createMemoryStore(), clock })
  const stop = new AbortController()
  const decode = (value: Uint8Array) => Buffer.from(value).toString()
  const reflector = new Reflector({
    storage,
    clock,
    log: silentLog,
    random: () => 0,
    resource: 'core/configmaps',
    decode,
    signal: stop.signal,
  })
  await reflector.ready
  const empty = storage.snapshot()
  for (let round = 0; round < 3; round += 1) {
    await storage.restore(empty)
    await turns()
  }
  await written(storage, aPut({ name: 'a', data: 'one' }))
  await turns()
  expect([...reflector.values()]).toEqual([expect.stringContaining('one')])
  stop.abort()
  storage.close()
})
