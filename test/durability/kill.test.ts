import { seed } from '@orch/testkit/chance'
import { aFolder } from '@orch/testkit/folder'
import { expect, test } from 'vitest'
import { createRandom } from '../chaos/random.ts'
import { killAgainAndAgain } from './kill.ts'
import { startWriter } from './start-writer.ts'
import { findFaults } from './verify.ts'

test('STORE-04: no acknowledged write is lost when the server is killed, 4 times under load', async () => {
  const { faults, acknowledged, revisions } = await killAgainAndAgain({ directory: aFolder(), rounds: 4, random: createRandom(seed) })
  expect({ faults, revisions }).toEqual({ faults: [], revisions: acknowledged })
  expect(acknowledged).toBeGreaterThanOrEqual(4)
})

test('the check finds a lost write, a refused write that is stored, and a different state', async () => {
  const other = aFolder()
  const { acknowledged, end } = await startWriter({ directory: other, writes: 20, inFlight: 2 }).ended
  expect({ end, count: acknowledged.length }).toEqual({ end: 0, count: 20 })
  const known = { directory: other, refused: [], after: 1 }
  const lost = { number: 99, revision: 999, key: 'lanes/0/key-0', kind: 'put' }
  const faultsOf = async (rest: Partial<Parameters<typeof findFaults>[0]>) =>
    (await findFaults({ ...known, acknowledged, state: new Map(), ...rest })).faults.join('; ')
  expect(await faultsOf({})).toBe('')
  expect(await faultsOf({ acknowledged: [...acknowledged, lost] })).toContain('write 99 at 999 is lost')
  expect(await faultsOf({ acknowledged: [...acknowledged, { ...acknowledged[3]!, number: 5 }] })).toContain('share a revision')
  expect(await faultsOf({ refused: [7] })).toContain('write-7 was refused and is there')
  expect(await faultsOf({ state: new Map([['lanes/9/key-9', 1]]) })).toContain('lanes/9/key-9 should be at 1')
  expect(await faultsOf({ after: 2 })).toContain('lost')
})
