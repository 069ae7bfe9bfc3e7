import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openLmdbStore } from '../../services/storage/src/index.ts'
import { checkDataFolder, DamagedStoreError } from '../../services/storage/src/store/data-folder.ts'
import { FileCheck, stateOfFile } from '../../services/storage/src/store/file-check.ts'
import { readState, type State, writeSampleStore } from './sample-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'durability-damaged-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pageSize = 4096
const sound = join(folder, 'sound')
let state: State = []
beforeAll(async () => {
  state = await writeSampleStore(sound)
})

/** Changes some bytes of a file. */
function edit(change: (bytes: Buffer) => Buffer): (path: string) => void {
  return (path) => writeFileSync(path, change(readFileSync(path)))
}

/** Overwrites a part of a file. */
function overwrite(at: number, value: Buffer): (path: string) => void {
  return edit((bytes) => {
    value.copy(bytes, at)
    return bytes
  })
}

function numberBytes(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUIntLE(value, 0, Math.min(bytes, 6))
  return buffer
}

/** File positions of the fields of the first page after its head. */
const fields = { magic: 24, version: 28, pageSize: 48, freeFlags: 52, mainRoot: 136, lastPage: 144, transaction: 152 }
/** The first page of the newest transaction; LMDB uses its fields. */
function editNewest(field: number, value: Buffer): (path: string) => void {
  return edit((bytes) => {
    const first = bytes.readUIntLE(fields.transaction, 6) > bytes.readUIntLE(pageSize + fields.transaction, 6) ? 0 : pageSize
    value.copy(bytes, first + field)
    return bytes
  })
}

/** The damages to the file, and the expected error of each. */
const damages: readonly [string, (path: string) => void, string | RegExp][] = [
  ['is missing', unlinkSync, 'it is missing, and the folder has been in use'],
  ['has no bytes', (path) => truncateSync(path, 0), 'it is empty, and the folder has been in use'],
  ['ends in its first page', (path) => truncateSync(path, 100), 'it ends after 100 bytes, within its first pages'],
  ['ends in its second page', (path) => truncateSync(path, pageSize + 100), 'it ends after 4196 bytes, within its first pages'],
  ['ends after its first pages', (path) => truncateSync(path, pageSize * 2), /^it has 8192 bytes, and its pages need \d+$/],
  ['ends in the middle', (path) => truncateSync(path, pageSize * 60), /^it has 245760 bytes, and its pages need \d+$/],
  ['is something else', edit((bytes) => Buffer.from('x'.repeat(bytes.length))), "page 0 is not one of LMDB's first pages"],
  ['is a few words', (path) => writeFileSync(path, 'hello'), 'it ends after 5 bytes, within its first pages'],
  ['begins with zeros', overwrite(0, Buffer.alloc(pageSize)), "page 0 is not one of LMDB's first pages"],
  ['has a second page of zeros', overwrite(pageSize, Buffer.alloc(pageSize)), "page 1 is not one of LMDB's first pages"],
  ['has another magic', overwrite(fields.magic, numberBytes(1, 4)), 'page 0 does not begin as those of LMDB do'],
  ['has another version', overwrite(fields.version, numberBytes(1, 4)), "page 0 has version 1 of LMDB's format, 2 was expected"],
  ['has pages of a wrong size', overwrite(fields.pageSize, numberBytes(5_000, 4)), 'page 0 names pages of 5000 bytes'],
  [
    'has pages of two sizes',
    overwrite(pageSize + fields.pageSize, numberBytes(8192, 4)),
    'its first two pages name different sizes of pages',
  ],
  ['has trees of another kind', overwrite(fields.freeFlags, numberBytes(4, 2)), 'page 0 describes trees of another kind'],
  ['has another last page', editNewest(fields.lastPage, numberBytes(1_000_000, 8)), /^it has \d+ bytes, and its pages need 4096004096$/],
  [
    'has a transaction far ahead',
    editNewest(fields.transaction, numberBytes(9_000, 8)),
    'its first two pages are not of successive transactions',
  ],
  [
    'has a root outside of it',
    editNewest(fields.mainRoot, numberBytes(900_000, 8)),
    'the table of trees refers to page 900000, which the file does not have',
  ],
  [
    'has a root in its first pages',
    editNewest(fields.mainRoot, numberBytes(1, 8)),
    'the table of trees refers to page 1, which the file does not have',
  ],
  [
    'has a value that is another',
    edit((bytes) => Buffer.from(bytes.toString('latin1').replace('large/3\x07\x07\x07', 'large/3\x07\x08\x07'), 'latin1')),
    /^what was written at revision \d+ has changed$/,
  ],
  [
    'has a tree of another name',
    edit((bytes) => Buffer.from(bytes.toString('latin1').replaceAll('latest', 'latesu'), 'latin1')),
    'it has no tree "latest"',
  ],
  [
    'has no pages behind the first ones',
    edit((bytes) => bytes.fill(0, pageSize * 2)),
    /^page \d+ of the table of trees is not a page of it$/,
  ],
]

describe('a damaged data file', () => {
  test.each(damages)('%s: one sentence names the file, the damage and the remedy', async (name, damage, what) => {
    const directory = join(folder, name)
    cpSync(sound, directory, { recursive: true })
    const path = join(directory, 'state.mdb')
    damage(path)
    const open = async () => {
      const store = await openLmdbStore({ directory, profile: 'orch' })
      await readState(store).finally(() => store.close())
    }
    const error = await open().catch((cause: Error) => cause)
    const [, before, found, after] = /^(the data file .*? is damaged) \((.*)\): (.*)$/.exec(error?.message ?? '') ?? []
    expect({ before, after }).toEqual({
      before: `the data file ${path} is damaged`,
      after: `put back a copy of the folder ${directory}, or move it away to start with an empty one`,
    })
    expect(found).toEqual(typeof what === 'string' ? what : expect.stringMatching(what))
  })

  test('is checked page by page after an orderly end only if the file has changed since', async () => {
    const directory = join(folder, 'closed')
    cpSync(sound, directory, { recursive: true })
    await openLmdbStore({ directory, profile: 'orch' }).then((store) => store.close())
    const path = join(directory, 'state.mdb')
    const mark = readFileSync(join(directory, 'initialized'), 'utf8')
    expect(mark).toMatch(/^closed: transaction \d+, inode \d+, \d+ bytes, modified \d+, changed \d+, first pages \d+$/m)
    const pagesRead = () => {
      const read = vi.spyOn(FileCheck.prototype, 'run')
      checkDataFolder(directory, [])
      const count = read.mock.calls.length
      read.mockRestore()
      return count > 0
    }
    expect(pagesRead()).toBe(false)
    // Each field of the note separately.
    for (const fact of [/transaction (\d+)/, /inode (\d+)/, /, (\d+) bytes/, /modified (\d+)/, /changed (\d+)/, /first pages (\d+)/]) {
      writeFileSync(
        join(directory, 'initialized'),
        mark.replace(fact, (text) => `${text.slice(0, -1)}7${text.at(-1)}`),
      )
      expect(pagesRead()).toBe(true)
    }
    writeFileSync(join(directory, 'initialized'), mark)
    expect(pagesRead()).toBe(false)
    // A folder that was restored from a copy has another file.
    const copy = join(folder, 'closed-copy')
    cpSync(directory, copy, { recursive: true, preserveTimestamps: true })
    unlinkSync(path)
    cpSync(join(copy, 'state.mdb'), path, { preserveTimestamps: true })
    expect(pagesRead()).toBe(true)
    edit((bytes) => bytes.fill(0, pageSize * 2))(path)
    await expect(openLmdbStore({ directory, profile: 'orch' })).rejects.toThrow(/page \d+ of the table of trees is not a page of it/)
  })

  test('with a damaged first page beside a matching note is found before its content is used', async () => {
    const directory = join(folder, 'closed-meta')
    cpSync(sound, directory, { recursive: true })
    await openLmdbStore({ directory, profile: 'orch' }).then((store) => store.close())
    const [path, mark] = [join(directory, 'state.mdb'), join(directory, 'initialized')]
    const bytes = readFileSync(path)
    const sum = /first pages (\d+)/.exec(readFileSync(mark, 'utf8'))?.[1]
    const accepted: string[] = []
    const found = (page: number, at: number) => {
      const changed = Buffer.from(bytes)
      changed[page + at]! ^= 1
      writeFileSync(path, changed)
      try {
        writeFileSync(mark, `closed: ${stateOfFile(path).replace(/first pages \d+/, `first pages ${sum}`)}\n`)
      } catch {
        return
      }
      const read = vi.spyOn(FileCheck.prototype, 'run')
      try {
        checkDataFolder(directory, ['log', 'latest', 'about'])
        if (read.mock.calls.length === 0) accepted.push(`byte ${at} of ${page}`)
      } catch (error) {
        expect(error).toBeInstanceOf(DamagedStoreError)
      } finally {
        read.mockRestore()
      }
    }
    // The trees with their counts and roots, the last page, and the transaction.
    for (const page of [0, pageSize]) for (let at = 48; at < 160; at += 4) found(page, at)
    // The same for the page of the table of trees.
    const newest = bytes.readUIntLE(fields.transaction, 6) > bytes.readUIntLE(pageSize + fields.transaction, 6) ? 0 : pageSize
    const table = bytes.readUIntLE(newest + fields.mainRoot, 6) * pageSize
    for (let at = 0; at < pageSize; at += 256) found(table, at)
    expect(accepted).toEqual([])
  })

  test('gets no note from a store that does not flush its writes', async () => {
    const directory = join(folder, 'unflushed')
    cpSync(sound, directory, { recursive: true })
    writeFileSync(join(directory, 'initialized'), '')
    await openLmdbStore({ directory, profile: 'orch', unsafeNoSync: true }).then((store) => store.close())
    expect(readFileSync(join(directory, 'initialized'), 'utf8')).toBe('')
  })

  test('has undamaged copies that open with all written values', async () => {
    const directory = join(folder, 'copy')
    cpSync(sound, directory, { recursive: true })
    const store = await openLmdbStore({ directory, profile: 'orch' })
    expect(await readState(store)).toEqual(state)
    expect(state.length).toBeGreaterThan(400)
    await store.close()
  })

  test('without content in an unused folder becomes a new store', async () => {
    const directory = join(folder, 'new')
    cpSync(sound, directory, { recursive: true })
    unlinkSync(join(directory, 'initialized'))
    truncateSync(join(directory, 'state.mdb'), 0)
    const store = await openLmdbStore({ directory, profile: 'orch' })
    expect(await readState(store)).toEqual([])
    await store.close()
    expect(readFileSync(join(directory, 'initialized'), 'utf8')).toContain('state.mdb')
  })

  test('without the mark, as older versions left it, opens and gets the mark if it is valid', async () => {
    const directory = join(folder, 'unmarked')
    cpSync(sound, directory, { recursive: true })
    unlinkSync(join(directory, 'initialized'))
    const store = await openLmdbStore({ directory, profile: 'orch' })
    expect(await readState(store)).toEqual(state)
    await store.close()
    unlinkSync(join(directory, 'state.mdb'))
    await expect(openLmdbStore({ directory, profile: 'orch' })).rejects.toThrow('it is missing')
  })
})
