import { expect, test } from 'vitest'
import { MemoryTables } from './memory-store.ts'
import type { LogEntry } from './tables.ts'

const entry = (revision: number, key: string, value?: string): LogEntry => ({
  revision,
  previous: revision - 1,
  replaces: 0,
  key,
  writeId: `w${revision}`,
  value: value === undefined ? undefined : Buffer.from(value),
})

function tablesWith(...appended: LogEntry[]): MemoryTables {
  const tables = new MemoryTables('e')
  tables.write({ appended, removed: [], meta: { revision: appended.at(-1)?.revision ?? 1 }, purpose: 'put' })
  return tables
}

const revisionsIn = (tables: MemoryTables, after = 0) => [...tables.entries(after)].map(({ revision }) => revision)

test('a batch adds to the notes of the tables', () => {
  const tables = tablesWith(entry(2, 'a', 'x'))
  tables.write({ appended: [], removed: [], meta: { compacted: 2 }, purpose: 'sweep' })
  expect(tables.meta).toEqual({ profile: '', epoch: 'e', revision: 2, compacted: 2, swept: 1 })
})

test('keys are in order, from the start on, without deleted keys', () => {
  const tables = tablesWith(entry(2, 'p/b', '1'), entry(3, 'p/a', '2'), entry(4, 'q', '3'), entry(5, 'p/c', '4'), entry(6, 'p/b'))
  expect(tables.keys({ prefix: 'p/', start: '' })).toEqual([
    { key: 'p/a', revision: 3 },
    { key: 'p/c', revision: 5 },
  ])
  expect(tables.keys({ prefix: 'p/', start: 'p/b' })).toEqual([{ key: 'p/c', revision: 5 }])
  expect([tables.latest.get('p/a'), tables.latest.get('p/b')]).toEqual([3, undefined])
})

test('removed entries are absent from the log, and their bytes leave the memory', () => {
  const tables = tablesWith(entry(2, 'a', 'x'.repeat(100_000)), entry(3, 'b', 'x'), entry(4, 'a', ''))
  expect([revisionsIn(tables), revisionsIn(tables, 2), tables.sizes().bytes > 100_000]).toEqual([[2, 3, 4], [3, 4], true])
  tables.write({ appended: [], removed: [2, 9], meta: {}, purpose: 'sweep' })
  expect([revisionsIn(tables), tables.entry(2), tables.sizes().bytes < 10_000]).toEqual([[3, 4], undefined, true])
})

test('an amended value belongs to its tables alone, until the entry is removed', () => {
  const tables = tablesWith(entry(2, 'ab', 'xyz'))
  const fork = tables.fork()
  fork.amend(2, Buffer.from('other'))
  const textIn = (from: MemoryTables) => Buffer.from(from.entry(2)?.value ?? []).toString()
  expect([textIn(tables), textIn(fork), textIn(fork.fork())]).toEqual(['xyz', 'other', 'other'])
  expect(fork.entry(2)).toMatchObject({ revision: 2, previous: 1, replaces: 0, key: 'ab', writeId: 'w2' })
  fork.write({ appended: [], removed: [2], meta: {}, purpose: 'sweep' })
  expect([textIn(tables), fork.entry(2)]).toEqual(['xyz', undefined])
})

test('closed tables hold nothing', async () => {
  const tables = tablesWith(entry(2, 'a', 'x'))
  await tables.close()
  expect([tables.latest.get('a'), tables.entry(2), revisionsIn(tables)]).toEqual([undefined, undefined, []])
})
