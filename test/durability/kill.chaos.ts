import { aFolder } from '@orch/testkit/folder'
import { expect, test } from 'vitest'
import { createRandom } from '../chaos/random.ts'
import { chaosSeed } from '../chaos/seed.ts'
import { killAgainAndAgain } from './kill.ts'

const rounds = Number(process.env['ORCH_CHAOS_KILLS'] ?? 50)

test(`STORE-04: no acknowledged write is lost when the server is killed, ${rounds} times under load, seed ${chaosSeed}`, {
  timeout: rounds * 30_000,
}, async () => {
  const directory = aFolder()
  const { faults, acknowledged, revisions } = await killAgainAndAgain({ directory, rounds, random: createRandom(chaosSeed) })
  expect({ faults, revisions }).toEqual({ faults: [], revisions: acknowledged })
  expect(acknowledged).toBeGreaterThanOrEqual(rounds)
})
