import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { startWriter } from './start-writer.ts'
import { findFaults } from './verify.ts'

const folders: string[] = []
const mounts: string[] = []
afterAll(() => {
  for (const folder of mounts) execFileSync('umount', [folder])
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

const isLimited = canLimit()

describe.skipIf(!isLimited)(`a disk that takes no more${isLimited ? '' : ' [skipped: prlimit is missing or not allowed]'}`, () => {
  test('writes are refused with the cause and leave nothing, and go on when there is room', async () => {
    const directory = aFolder()
    const writer = startWriter({ directory, inFlight: 8, under: ['prlimit', '--fsize=4000000:unlimited'] })
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

/** A folder on a disk of its own with so many megabytes, or undefined where mounting is not allowed. */
function aSmallDisk(megabytes: number): string | undefined {
  const folder = join(aFolder(), 'disk')
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  mounts.push(folder)
  return folder
}

describe('a disk that is full to the last block', () => {
  test('STORE-04: large creates are refused, deletions and compaction go on, and nothing acknowledged is lost', {
    timeout: 120_000,
  }, async (context) => {
    const disk = aSmallDisk(12)
    if (disk === undefined) return context.skip('no file system may be mounted here')
    const script = fileURLToPath(new URL('./fill-disk.ts', import.meta.url))
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, ['--conditions=source', '--no-warnings', script, disk], {
      encoding: 'utf8',
    })
    expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' })
    const said = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const full = expect.stringMatching(/^the store can't write: the disk that holds .* is full \(ENOSPC/)
    expect(said).toEqual([
      { step: 'another program takes the rest', written: expect.any(Number), refusal: full },
      { step: 'still full', written: 0, refusal: full },
      { step: 'deleted', written: 20 },
      { step: 'compacted', written: expect.any(Number) },
      { step: 'the other program ends', written: expect.any(Number), refusal: full },
      { step: 'the other program comes back', written: 0, refusal: full },
      { step: 'deleted again', written: 20 },
      { step: 'opened again', lost: [], left: [] },
    ])
    expect(said[3].written).toBeGreaterThan(0)
    expect(said[4].written).toBeGreaterThan(20)
  })

  test('a new store is refused with the cause', async (context) => {
    const disk = aSmallDisk(1)
    if (disk === undefined) return context.skip('no file system may be mounted here')
    const { end, errors } = await startWriter({ directory: join(disk, 'data'), writes: 1 }).ended
    expect({ end, errors }).toEqual({ end: 1, errors: expect.stringMatching(/^the disk that holds .* is full \(ENOSPC/) })
  })
})

describe('a second process on the same data directory', () => {
  test('is refused with the pid of the first, which writes on', async () => {
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
