import { silentLog } from '@orch/platform'
import { aPut, aSubscription, createFakeClock, written } from '@orch/testkit'
import { expect, test } from 'vitest'
import { createWatchHub } from '../../services/gateway/src/watch-hub/index.ts'
import { createMemoryStore, createStorage } from '../../services/storage/src/index.ts'
import { createWatch, unconverted, type Watch } from '../../services/watch/src/index.ts'
import { recordingSink } from './seen-events.ts'

const turns = async () => {
  for (let round = 0; round < 10; round += 1) await new Promise<void>((resolve) => setImmediate(resolve))
}
const minuteMs = 60_000

test('WATCH-20, CARD-25: a quiet watch continues beyond the window while replicas of watch are replaced, without a 410 or a lost event', async () => {
  const clock = createFakeClock()
  const environment = { clock, log: silentLog, random: () => 0 }
  const storage = await createStorage({ store: createMemoryStore(), clock, watchHistoryMs: 5 * minuteMs })
  const open = () => createWatch({ ...environment, storage, convertOf: () => unconverted })
  let replicas: Watch[] = [open(), open()]
  let turn = 0
  const watch: Pick<Watch, 'subscribe'> = {
    subscribe(request, context) {
      turn += 1
      return (replicas[turn % replicas.length] as Watch).subscribe(request, context)
    },
  }
  const hub = createWatchHub({ ...environment, watch })
  const seen: string[] = []
  const sink = recordingSink(seen)
  const { revision, epoch } = await storage.status({})
  const quiet = { labels: [{ key: 'app', operator: 'In' as const, values: ['quiet'] }], fields: [] }
  hub.attach({ request: aSubscription({ after: revision, epoch, selection: quiet }), sink })
  await turns()

  for (let minute = 0; minute < 12; minute += 1) {
    await written(storage, aPut({ name: `other-${minute}`, data: 'noise' }))
    for (let second = 0; second < 60; second += 10) {
      clock.advance(10_000)
      await turns()
    }
    const gone = replicas[minute % 2] as Watch
    replicas = replicas.map((replica) => (replica === gone ? open() : replica))
    gone.close()
    await turns()
  }
  expect((await storage.status({})).compacted).toBeGreaterThan(revision)
  await written(storage, aPut({ name: 'mine', labels: { app: 'quiet' }, data: 'late' }))
  await turns()
  expect(seen).toEqual(['event late'])

  hub.close()
  for (const replica of replicas) replica.close()
  storage.close()
})
