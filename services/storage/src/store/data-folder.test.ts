import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkDataFolder, DamagedStoreError, explainDamage, markClosed, markUsed } from './data-folder.ts'
import { DamageError } from './lmdb-file.ts'

function aFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'data-folder-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return folder
}

test('a folder without a store, or with an empty file that no store has used, is new', () => {
  const empty: readonly Readonly<Record<string, string>>[] = [{}, { 'state.mdb': '' }]
  for (const files of empty) {
    const directory = aFolder(files)
    expect(checkDataFolder(directory, [])).toEqual({ directory, path: join(directory, 'state.mdb'), isUsed: false })
  }
})

test.each([
  ['missing', { initialized: '' }, 'it is missing, and the folder has been in use'],
  ['empty', { initialized: '', 'state.mdb': '' }, 'it is empty, and the folder has been in use'],
])('a data file that is %s in the folder of a store is damage, reported with the file and the remedy', (_title, files, what) => {
  const directory = aFolder(files)
  expect(() => checkDataFolder(directory, [])).toThrow(
    `the data file ${join(directory, 'state.mdb')} is damaged (${what}): put back a copy of the folder ${directory}, or move it away to start with an empty one`,
  )
})

test.each([
  ['in use', { initialized: '' }],
  ['new', {}],
])('an invalid data file is damage in a folder that is %s', (_title, files) => {
  const directory = aFolder({ ...files, 'state.mdb': Buffer.alloc(8192, 7) })
  expect(() => checkDataFolder(directory, [])).toThrow(DamagedStoreError)
})

test('damage found later names the file and keeps its cause; other errors are unchanged', () => {
  const folder = { directory: '/d', path: '/d/state.mdb', isUsed: true }
  const damage = new DamageError('page 7 is no page')
  const explained = (error: Error) => {
    try {
      return explainDamage(folder, () => {
        throw error
      })
    } catch (thrown) {
      return thrown
    }
  }
  expect(explained(damage)).toMatchObject({
    name: 'DamagedStoreError',
    message: expect.stringContaining('/d/state.mdb is damaged (page 7 is no page)'),
    cause: damage,
  })
  const other = new Error('other')
  expect(explained(other)).toBe(other)
  expect(explainDamage(folder, () => 7)).toBe(7)
})

test('a folder is marked once, in a file that only its owner can access', () => {
  const directory = aFolder()
  const mark = join(directory, 'initialized')
  const folder = checkDataFolder(directory, [])
  markUsed(folder)
  expect(readFileSync(mark, 'utf8')).toContain('state.mdb holds the state of this folder')
  if (process.platform !== 'win32') expect(statSync(mark).mode & 0o777).toBe(0o600)
  writeFileSync(mark, 'kept')
  markUsed({ ...folder, isUsed: true })
  expect(readFileSync(mark, 'utf8')).toBe('kept')
})

test('a store that is closed in a full or missing folder writes no note, without an error', () => {
  const directory = aFolder()
  markClosed({ ...checkDataFolder(directory, []), isUsed: true })
  expect(existsSync(join(directory, 'initialized'))).toBe(false)
})
