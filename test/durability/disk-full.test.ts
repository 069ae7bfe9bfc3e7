import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { startWriter } from './start-writer.ts'
import { findFaults } from './verify.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'durability-full-'))
  folders.push(folder)
  return folder
}

function canLimit(): boolean {
  try {
    execFileSync('prlimit', ['--fsize=1000000:unlimited', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe.skipIf(!canLimit())('a disk that takes no more (skipped where prlimit is missing or not allowed)', () => {
  test('writes are refused with the cause and leave nothing, and go on when there is room', { timeout: 60_000 }, async () => {
    const directory = aFolder()
    const writer = startWriter({ directory, inFlight: 8, under: ['prlimit', '--fsize=600000:unlimited'] })
    await writer.seen('refused', 20)
    const before = writer.said.acknowledged.length
    expect(before).toBeGreaterThan(0)
    execFileSync('prlimit', ['--pid', String(writer.child.pid), '--fsize=unlimited'])
    await writer.seen('ack', before + 200)
    writer.child.kill('SIGKILL')
    const { acknowledged, refused } = await writer.ended
    expect(acknowledged.length).toBeGreaterThanOrEqual(before + 200)
    expect(refused[0]?.reason).toContain(`the store can't write: ${directory}`)
    const numbers = refused.map(({ number }) => number)
    const { faults } = await findFaults({ directory, acknowledged, refused: numbers, after: 1, state: new Map() })
    expect(faults).toEqual([])
  })
})

describe('a second process on the same data directory', () => {
  test('is refused with the pid of the first, which writes on', { timeout: 60_000 }, async () => {
    const directory = aFolder()
    const first = startWriter({ directory, inFlight: 2 })
    await first.seen('ack')
    const second = await startWriter({ directory, first: 1_000_000, writes: 5 }).ended
    expect(second).toMatchObject({ end: 1, acknowledged: [] })
    expect(second.errors).toContain(`in use by process ${first.child.pid}`)
    await first.seen('ack', first.said.acknowledged.length + 10)
    first.child.kill('SIGKILL')
    await first.ended
    const third = await startWriter({ directory, first: 2_000_000, writes: 5 }).ended
    expect({ end: third.end, count: third.acknowledged.length }).toEqual({ end: 0, count: 5 })
  })
})
