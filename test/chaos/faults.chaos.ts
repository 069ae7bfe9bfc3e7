import { findBackend } from '@orch/testkit/backends'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readyMsMax } from './faults.ts'
import { planted } from './planted.ts'
import { judge, report, runChaos } from './run.ts'
import { chaosSeed as seed } from './seed.ts'
import { openServiceSet } from './service-set.ts'

const [etcd, nats] = [await findBackend('etcd'), await findBackend('nats-server')]
const missing = [etcd, nats].flatMap((backend) => (backend.kind === 'missing' ? [`[skipped: ${backend.reason}]`] : []))
const seconds = Number(process.env['ORCH_CHAOS_SECONDS'] ?? 40)
const bounds = { faults: 20, operations: 2_000, events: 20_000, unknownPartMax: 0.05, readyMsMax }

describe.skipIf(missing.length > 0)(`a set of processes under faults ${missing.join('; ')}`, () => {
  test(`CARD-25: loses no write, no event and no order, seed ${seed}`, { timeout: (6 * seconds + 240) * 1_000 }, async () => {
    const set = await openServiceSet({
      etcdPath: etcd.kind === 'found' ? etcd.path : '',
      natsPath: nats.kind === 'found' ? nats.path : '',
      flags: { storage: ['--watch-history=24h'] },
    })
    onTestFinished(() => set.close())
    const run = await runChaos({ set, seed, atLeastMs: seconds * 1_000, atMostMs: 6 * seconds * 1_000, bounds })
    process.stdout.write(`${report(run, seed)}\n`)
    expect(judge(run)).toEqual([])
    const missed = Object.entries(planted).filter(([, { harm, told }]) => {
      const harmed = harm(run)
      return harmed === undefined || !judge(harmed).some((fault) => told.test(fault))
    })
    expect(missed.map(([name]) => name)).toEqual([])
  })
})
