import { findBackend } from '@orch/testkit/backends'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runDefinitions } from './definition-run.ts'
import { chaosSeed as seed } from './seed.ts'
import { openServiceSet } from './service-set.ts'

const [etcd, nats] = [await findBackend('etcd'), await findBackend('nats-server')]
const missing = [etcd, nats].flatMap((backend) => (backend.kind === 'missing' ? [`[skipped: ${backend.reason}]`] : []))
const rounds = Number(process.env['ORCH_CHAOS_ROUNDS'] ?? 3)

describe.skipIf(missing.length > 0)(`definitions while processes are killed ${missing.join('; ')}`, () => {
  test(`CRD-148: cause no 404 after an acknowledgement, no object without a definition and no lost object, seed ${seed}`, {
    timeout: (rounds + 2) * 240_000,
  }, async () => {
    const set = await openServiceSet({
      etcdPath: etcd.kind === 'found' ? etcd.path : '',
      natsPath: nats.kind === 'found' ? nats.path : '',
    })
    onTestFinished(() => set.close())
    const { faults, counts, kills } = await runDefinitions({ set, seed, workers: 6, rounds })
    process.stdout.write(`seed ${seed}: ${kills} kills, ${JSON.stringify(counts)}\n`)
    expect(faults).toEqual([])
    expect(counts.removals).toBeGreaterThan(rounds)
  })
})
