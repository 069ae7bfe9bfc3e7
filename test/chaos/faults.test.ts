import { findBackend } from '@orch/testkit/backends'
import { describe, expect, onTestFinished, test } from 'vitest'
import { judge, runChaos } from './run.ts'
import { openServiceSet } from './service-set.ts'

const [etcd, nats] = [await findBackend('etcd'), await findBackend('nats-server')]
const missing = [etcd, nats].flatMap((backend) => (backend.kind === 'missing' ? [`[skipped: ${backend.reason}]`] : []))
/** So wide that no busy machine leaves them; a lost or misordered event is a fault all the same. */
const bounds = { faults: 6, operations: 100, events: 1_000, unknownPartMax: 0.5, readyMsMax: 60_000 }
/** Draws kills of a gateway and a storage, a cut and a silent connection, a stopped process, and lost NATS. */
const seed = 7
const atMostMs = 150_000

describe.skipIf(missing.length > 0)(`a set of processes that is harmed a few times ${missing.join('; ')}`, () => {
  test('CARD-25: loses no write, no event and no order', { timeout: 2 * atMostMs }, async () => {
    const set = await openServiceSet({
      etcdPath: etcd.kind === 'found' ? etcd.path : '',
      natsPath: nats.kind === 'found' ? nats.path : '',
      flags: { storage: ['--watch-history=24h'] },
    })
    onTestFinished(() => set.close())
    expect(judge(await runChaos({ set, seed, atLeastMs: 0, atMostMs, bounds }))).toEqual([])
  })
})
