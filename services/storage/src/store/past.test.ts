import { expect, test } from 'vitest'
import { findDamage, statesAt, unreferenced } from './past.ts'
import type { KeySpan, Latest, LogEntry, Tables } from './tables.ts'

/** Tables that know the current keys and the log. */
function tablesOf(latest: Readonly<Record<string, number>>, log: readonly (readonly [revision: number, key: string, replaces: number])[]) {
  const keys = ({ prefix, start }: KeySpan): Latest[] =>
    Object.entries(latest)
      .filter(([key]) => key.startsWith(prefix) && key >= start)
      .map(([key, revision]) => ({ key, revision }))
  const revisions = log.map(([revision]) => revision)
  const entries = (after: number): LogEntry[] =>
    log
      .filter(([revision]) => revision > after)
      .map(([revision, key, replaces]) => ({
        revision,
        previous: Math.max(1, ...revisions.filter((other) => other < revision)),
        replaces,
        key,
        writeId: 'w',
      }))
  const after = (revision: number) => revisions.filter((other) => other > revision)
  const entry = (revision: number) => entries(revision - 1).find((one) => one.revision === revision)
  return { keys, entries, revisions: after, entry } as unknown as Tables
}

const tables = tablesOf({ 'p/a': 9, 'p/c': 7, 'q/a': 8 }, [
  [2, 'p/a', 0],
  [3, 'p/b', 0],
  [5, 'p/a', 2],
  [6, 'p/b', 3],
  [7, 'p/c', 0],
  [8, 'q/a', 0],
  [9, 'p/a', 5],
])
const at = (revision: number, span: Partial<KeySpan> = {}) =>
  [...statesAt(tables, { prefix: 'p/', start: '', ...span }, { after: revision, upTo: 9 })]
    .map(({ key, revision: of }) => `${key}@${of}`)
    .join(' ')

test('STORE-04: the keys of a range have their state at a revision, in order', () => {
  expect([2, 3, 4, 5, 6, 7, 8, 9, 10].map((revision) => at(revision))).toEqual([
    'p/a@2',
    'p/a@2 p/b@3',
    'p/a@2 p/b@3',
    'p/a@5 p/b@3',
    'p/a@5',
    'p/a@5 p/c@7',
    'p/a@5 p/c@7',
    'p/a@9 p/c@7',
    'p/a@9 p/c@7',
  ])
})

test('STORE-04: keys outside of the range are not undone', () => {
  expect(at(5, { start: 'p/b' })).toBe('p/b@3')
  expect(at(5, { start: 'p/c' })).toBe('')
  expect([at(7, { prefix: 'q/' }), at(8, { prefix: 'q/' }), at(4, { prefix: '' })]).toEqual(['', 'q/a@8', 'p/a@2 p/b@3'])
})

test('entries that are unreferenced from a revision on are found, a bounded number at a time', () => {
  const meta = { compacted: 6, revision: 9 }
  // 5 is the revision before 9; 6 is a deletion.
  expect(unreferenced(tables, meta, 10)).toEqual([2, 3, 6])
  expect(unreferenced(tables, meta, 2)).toEqual([2, 3])
})

test('STORE-04: a log is checked for damage up to the revision of the store', () => {
  const meta = { swept: 1, compacted: 1, revision: 8 }
  const log = (after: number) =>
    tablesOf({ 'p/a': 5, 'p/c': 7, 'q/a': 8 }, [
      [2, 'p/a', 0],
      [5, 'p/a', 2],
      [7, 'p/c', 0],
      [8, 'q/a', 0],
      // The store does not know the write that this write replaces.
      [after, 'p/x', 4],
    ])
  expect(findDamage(log(9), meta)).toEqual({ shownAfter: 1, isOfPresent: false })
  expect(findDamage(log(9), { ...meta, revision: 9 })).toEqual({ shownAfter: 9, isOfPresent: false })
  expect(findDamage(log(9), { ...meta, revision: 10 })).toEqual({ shownAfter: 10, isOfPresent: false })
})
