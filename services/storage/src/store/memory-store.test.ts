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

test('removed entries and their bytes are absent from the log', () => {
  const tables = tablesWith(entry(2, 'a', 'xyz'), entry(3, 'b', 'x'), entry(4, 'a', ''))
  expect([revisionsIn(tables), revisionsIn(tables, 2), tables.sizes().bytes]).toEqual([[2, 3, 4], [3, 4], 7])
  tables.write({ appended: [], removed: [2, 9], meta: {}, purpose: 'sweep' })
  expect([revisionsIn(tables), tables.entry(2), tables.sizes()]).toEqual([[3, 4], undefined, { bytes: 3, freeBytes: 0 }])
})

test('the value of an adopted entry is read from its owner, and is not counted', () => {
  const tables = tablesWith(entry(2, 'ab', 'xyz'))
  let asked = 0
  tables.adopt(2, () => {
    asked += 1
    return Buffer.from('held')
  })
  tables.adopt(9, () => Buffer.from('nothing'))
  expect([asked, tables.sizes().bytes]).toEqual([0, 2])
  expect(tables.entry(2)).toMatchObject({ revision: 2, previous: 1, replaces: 0, key: 'ab', writeId: 'w2' })
  expect([Buffer.from(tables.entry(2)?.value ?? []).toString(), asked, tables.entry(9)]).toEqual(['held', 1, undefined])
})

test('closed tables hold nothing', async () => {
  const tables = tablesWith(entry(2, 'a', 'x'))
  await tables.close()
  expect([tables.latest.get('a'), tables.entry(2), revisionsIn(tables)]).toEqual([undefined, undefined, []])
})
