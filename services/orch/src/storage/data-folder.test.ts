import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeDataFolder } from './open.ts'

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'data-'))
  const umask = process.umask()
  onTestFinished(() => {
    process.umask(umask)
    rmSync(folder, { recursive: true })
  })
  return folder
}

test.each([
  [0o755, 1],
  [0o710, 1],
  [0o700, 0],
])('an existing data folder keeps mode %o, and a mode that other users can read causes a warning', (mode, warnings) => {
  const folder = aFolder()
  chmodSync(folder, mode)
  const said: unknown[] = []
  makeDataFolder(folder, { warn: (fields) => void said.push(fields) })
  expect(statSync(folder).mode & 0o777).toBe(mode)
  expect(said).toEqual(Array.from({ length: warnings }, () => ({ folder, mode: mode.toString(8) })))
})

test('a new data folder, and new files in any data folder, are readable only by their owner', () => {
  const folder = join(aFolder(), 'new')
  makeDataFolder(folder, { warn: () => expect.unreachable() })
  writeFileSync(join(folder, 'file'), '')
  expect([statSync(folder).mode & 0o777, statSync(join(folder, 'file')).mode & 0o777]).toEqual([0o700, 0o600])
})
