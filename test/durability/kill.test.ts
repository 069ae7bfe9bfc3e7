import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Acknowledged, startWriter } from './start-writer.ts'
import { findFaults } from './verify.ts'

const directory = mkdtempSync(join(tmpdir(), 'durability-kill-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const rounds = 50
const inFlight = 16

/** Runs a writer, kills it a random moment after its first acknowledgement, and gives what it acknowledged. */
async function killedRound(first: number): Promise<readonly Acknowledged[]> {
  const writer = startWriter({ directory, first, inFlight })
  await writer.seen('ack', 1 + Math.floor(Math.random() * 300))
  // Not on a line's end only: the moment lies anywhere between two of them.
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
  writer.child.kill('SIGKILL')
  const { acknowledged, refused, end, errors } = await writer.ended
  expect({ end, errors, refused }).toEqual({ end: 'SIGKILL', errors: '', refused: [] })
  return acknowledged
}

test('STORE-04: nothing acknowledged is lost when the server is killed, 50 times under load', { timeout: 600_000 }, async () => {
  const state = new Map<string, number>()
  const seen = new Set<number>()
  let after = 1
  let total = 0
  for (let round = 0; round < rounds; round++) {
    const acknowledged = await killedRound(round * 1_000_000)
    const { faults, revision } = await findFaults({ directory, acknowledged, refused: [], after, state })
    expect({ round, faults }).toEqual({ round, faults: [] })
    for (const { revision: used } of acknowledged) seen.add(used)
    total += acknowledged.length
    after = revision
  }
  expect(seen.size).toBe(total)
  expect(total).toBeGreaterThan(rounds)
})

test('the check finds a lost write, a refused one that is there, and a state that differs', async () => {
  const other = mkdtempSync(join(tmpdir(), 'durability-check-'))
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
  rmSync(other, { recursive: true })
})
