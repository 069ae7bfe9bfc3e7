import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { startWriter } from './start-writer.ts'
import { findFaults } from './verify.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function canInject(): boolean {
  try {
    execFileSync('strace', ['-o', '/dev/null', '-e', 'inject=fdatasync:error=EIO', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const isTraced = canInject()

/** Runs a command and makes its calls to these files of a folder fail from the nth call on. */
function underTracer(directory: string, { files, calls, error, nth }: { files: string[]; calls: string; error: string; nth: number }) {
  const paths = files.flatMap((file) => ['-P', join(directory, file)])
  return ['strace', '-f', '-o', '/dev/null', ...paths, '-e', `inject=${calls}:error=${error}:when=${nth}+`]
}

describe.skipIf(!isTraced)(`a disk with errors${isTraced ? '' : ' [skipped: strace is missing or not allowed]'}`, () => {
  test.each([
    ['page that cannot be written', 'pwrite64,pwritev,writev,write', 'EIO', 40],
    ['flush that fails', 'fdatasync,fsync', 'EIO', 12],
    ['page that a file system without room refuses when it is written over', 'pwrite64,pwritev,writev', 'ENOSPC', 40],
  ])(
    'STORE-04: that fails its first %s ends the process with a sentence, and acknowledged writes are stored',
    async (_what, calls, error, nth) => {
      const directory = mkdtempSync(join(tmpdir(), 'durability-errors-'))
      folders.push(directory)
      const under = underTracer(directory, { files: ['state.mdb'], calls, error, nth })
      // The test creates the store first, so the first of these calls belong to commits.
      const before = await startWriter({ directory, writes: 40, inFlight: 4 }).ended
      expect({ end: before.end, count: before.acknowledged.length }).toEqual({ end: 0, count: 40 })
      const { end, errors, acknowledged, refused } = await startWriter({ directory, first: 1_000, inFlight: 4, under }).ended
      expect({ end, refused }).toEqual({ end: 1, refused: [] })
      expect(errors).toMatch(
        new RegExp(
          `the data file .*state\\.mdb can't be written \\(${error}: .*\\), and what it holds of the last writes is not certain\n$`,
        ),
      )
      expect(acknowledged.length).toBeGreaterThan(0)
      const all = [...before.acknowledged, ...acknowledged]
      expect(await findFaults({ directory, acknowledged: all, refused: [], after: 1, state: new Map() })).toMatchObject({ faults: [] })
    },
  )

  test.each(['EIO', 'ENOSPC'])(
    'STORE-04: that fails the first write of a new folder with %s ends the process with a sentence',
    async (error) => {
      const directory = mkdtempSync(join(tmpdir(), 'durability-errors-'))
      folders.push(directory)
      const under = underTracer(directory, {
        files: ['state.mdb', 'state.mdb-trial'],
        calls: 'pwrite64,pwritev,writev,write',
        error,
        nth: 1,
      })
      const { end, errors, acknowledged } = await startWriter({ directory, writes: 1, under }).ended
      expect({ end, acknowledged }).toEqual({ end: 1, acknowledged: [] })
      expect(errors).toContain(`${directory}: ${error}: `)
      expect(readdirSync(directory)).not.toContain('state.mdb')
    },
  )
})
