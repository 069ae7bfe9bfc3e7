import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { type Run, runsOf } from './runs.ts'

const isEnd = (item: number) => item % 8 === 0
const join = (items: readonly number[]): Run<number> => ({ items })
const joined = (items: readonly number[], last: { items: readonly number[]; runs: readonly Run<number>[] } = { items: [], runs: [] }) => ({
  items,
  runs: runsOf(items, last, { isEnd, join }),
})
const itemsOf = ({ runs }: ReturnType<typeof joined>) => runs.map((run) => run.items)

test('a run ends with an item that ends one, and with the list', () => {
  expect(itemsOf(joined([1, 8, 16, 2, 3]))).toEqual([[1, 8], [16], [2, 3]])
  expect(itemsOf(joined([1, 8]))).toEqual([[1, 8]])
  expect(joined([]).runs).toEqual([])
})

test('the runs of a changed list are those of a new list, for any change', () => {
  const edit = fc.record({ at: fc.nat(60), removed: fc.nat(3), added: fc.array(fc.nat(100), { maxLength: 3 }) })
  fc.assert(
    fc.property(
      fc.array(fc.nat(100), { maxLength: 60 }),
      fc.array(fc.array(edit, { maxLength: 3 }), { maxLength: 10 }),
      (first, changes) => {
        let state = joined(first)
        for (const edits of changes) {
          const items = edits.reduce((before, { at, removed, added }) => before.toSpliced(at, removed, ...added), [...state.items])
          state = joined(items, state)
          expect(itemsOf(state)).toEqual(itemsOf(joined(items)))
        }
      },
    ),
    { numRuns: 200 },
  )
})

test('runs without a change are kept, also those between two changes', () => {
  const before = joined(Array.from({ length: 80 }, (_, index) => index + 1))
  const after = joined(before.items.toSpliced(70, 1, 101).toSpliced(10, 0, 102), before)
  const kept = after.runs.filter((run) => before.runs.includes(run))
  expect(before.runs).toHaveLength(10)
  expect(after.runs).toHaveLength(10)
  expect(kept).toHaveLength(8)
})
