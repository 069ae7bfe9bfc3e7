import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { aConfigMap } from '@orch/testkit'
import { afterAll, describe, expect, test } from 'vitest'
import { type ServerProcess, startProcess } from '../e2e/server-process.ts'
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

describe.skipIf(!isLimited)(`a full disk${isLimited ? '' : ' [skipped: prlimit is missing or not allowed]'}`, () => {
  test('refuses writes with the cause, stores nothing of them, and accepts writes when there is space again', async () => {
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

/** A folder on a separate disk of this number of megabytes; undefined if the test may not mount. */
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

/** Fills the rest of a disk. */
function fillWith(path: string): void {
  const file = openSync(path, 'w')
  try {
    for (;;) writeSync(file, Buffer.alloc(4096, 1))
  } catch {
    // The disk is full.
  }
  closeSync(file)
}

describe('a disk that is full to the last block', () => {
  test('STORE-04: refuses large creates, continues deletions and compaction, and loses nothing acknowledged', {
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

  test('STORE-04: makes a server refuse writes with the cause and answer reads; after a kill it starts and deletes, without a loss', {
    timeout: 120_000,
  }, async (context) => {
    const disk = aSmallDisk(16)
    if (disk === undefined) return context.skip('no file system may be mounted here')
    const dataDir = join(disk, 'data')
    const acknowledged = new Map<string, string | undefined>()
    const large = 'x'.repeat(100_000)
    let number = 0
    const configMapsOf = ({ client }: ServerProcess) =>
      client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
    const create = async (server: ServerProcess) => {
      const { metadata } = await configMapsOf(server).create(aConfigMap({ name: `c-${++number}`, data: { large } }))
      acknowledged.set(metadata.name ?? '', metadata.resourceVersion)
    }
    const filled = async (server: ServerProcess): Promise<unknown> => {
      try {
        for (;;) await create(server)
      } catch (error) {
        return error
      }
    }
    const lost = async (server: ServerProcess) => {
      const { items } = await configMapsOf(server).list({ namespace: 'default' })
      const found = new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]))
      return [...acknowledged].filter(([name, version]) => found.get(name) !== version)
    }
    const readiness = async ({ client }: ServerProcess) =>
      (await client.transport.send({ method: 'GET', path: '/readyz', headers: {} })).status

    const first = await startProcess(['--controllers=-*'], { dataDir })
    for (let count = 0; count < 20; count++) await create(first)
    const ballast = join(disk, 'ballast')
    fillWith(ballast)
    const cause = expect.stringMatching(/^the store can't write: the disk that holds .* is full \(ENOSPC/)
    // A small write of the server, such as a lease renewal, may find room between the two; the server is then ready again.
    const refusal = async () => ({ refused: await filled(first), readyz: await readiness(first) })
    const refused = { code: 503, reason: 'ServiceUnavailable', message: cause }
    await expect.poll(refusal, { timeout: 30_000 }).toMatchObject({ refused, readyz: 500 })
    expect(await lost(first)).toEqual([])
    first.signal('SIGKILL')
    await first.exited
    fillWith(join(disk, 'more-ballast'))

    const second = await startProcess(['--controllers=-*'], { dataDir })
    expect(await lost(second)).toEqual([])
    for (const name of [...acknowledged.keys()].slice(0, 10)) {
      await configMapsOf(second).delete(name, { namespace: 'default' })
      acknowledged.delete(name)
    }
    rmSync(ballast)
    acknowledged.set('after', (await configMapsOf(second).create(aConfigMap({ name: 'after', data: { large } }))).metadata.resourceVersion)
    expect(await readiness(second)).toBe(200)
    expect(await lost(second)).toEqual([])
  })

  test('refuses a new store with the cause', async (context) => {
    const disk = aSmallDisk(1)
    if (disk === undefined) return context.skip('no file system may be mounted here')
    const { end, errors } = await startWriter({ directory: join(disk, 'data'), writes: 1 }).ended
    expect({ end, errors }).toEqual({ end: 1, errors: expect.stringMatching(/^the disk that holds .* is full \(ENOSPC/) })
  })
})

test.skipIf(!existsSync('/dev/full'))(
  'a command whose output disk is full exits with 1 and no stack, so that a server continues without its audit log',
  () => {
    const full = openSync('/dev/full', 'w')
    const entry = join(import.meta.dirname, '../../services/orch/dist/bundle/main.js')
    const { status, stderr } = spawnSync(process.execPath, [entry, 'help'], { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' })
    closeSync(full)
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' })
  },
)

describe('a second process on the same data directory', () => {
  test('is refused with the pid of the first, which continues to write', async () => {
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
