import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { startWriter } from './start-writer.ts'
import { findEarlyAcknowledgements } from './sync-trace.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function canTrace(): boolean {
  try {
    execFileSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const isTraced = canTrace()

/** Runs a writer under strace; returns the trace of its calls. */
async function traced(mode: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'durability-sync-'))
  folders.push(folder)
  const file = join(folder, 'trace')
  const under = ['strace', '-f', '-s', '70000', '-o', file, '-e', 'trace=openat,write,pwrite64,writev,pwritev,pwritev2,fsync,fdatasync']
  const { acknowledged, errors, end } = await startWriter({ directory: join(folder, 'data'), writes: 60, inFlight: 4, mode, under }).ended
  expect({ count: acknowledged.length, errors, end }).toEqual({ count: 60, errors: '', end: 0 })
  return readFileSync(file, 'latin1')
}

describe.skipIf(!isTraced)(`system calls${isTraced ? '' : ' [skipped: strace is missing or not allowed]'}`, () => {
  test('STORE-04: show no acknowledgement before the sync that covers it has returned', async () => {
    expect(findEarlyAcknowledgements(await traced(''))).toEqual({ checked: 60, faults: [] })
  })

  test('show a store that does not sync, by the same check', async () => {
    const { checked, faults } = findEarlyAcknowledgements(await traced('unsafe-no-sync'))
    expect({ checked, found: faults.length }).toEqual({ checked: 60, found: 60 })
  })
})

test('the check finds an acknowledgement between the write and the end of its sync', () => {
  const calls = [
    '1 openat(AT_FDCWD, "/d/state.mdb", O_RDWR|O_CREAT, 0664) = 24',
    '1 openat(AT_FDCWD, "/d/state.mdb", O_WRONLY|O_DSYNC|O_CLOEXEC) = 25',
    '2 pwrite64(24, "write-7lanes/0/key-1", 4096, 0) = 4096',
    '2 fdatasync(24 <unfinished ...>',
    '1 write(1, "ack 7 2 lanes/0/key-1 put\\n", 24) = 24',
    '2 <... fdatasync resumed>) = 0',
    '2 pwrite64(25, "root", 128, 40) = 128',
  ]
  expect(findEarlyAcknowledgements(calls.join('\n'))).toEqual({ checked: 1, faults: ['write 7: no sync of its page had returned'] })
  const [late] = calls.splice(4, 1)
  expect(findEarlyAcknowledgements([...calls, late].join('\n'))).toEqual({ checked: 1, faults: [] })
})
