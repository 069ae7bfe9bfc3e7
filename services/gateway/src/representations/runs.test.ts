import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { type RunItem, Runs } from './runs.ts'

interface Item extends RunItem {
  readonly number: number
}

const itemsOf = (numbers: readonly number[]) => numbers.map((number) => items.get(number) ?? added(number))
const items = new Map<number, Item>()
const added = (number: number) => {
  const item = { number, isEnd: number % 8 === 0 }
  items.set(number, item)
  return item
}
const numberRuns = () => new Runs((run: readonly Item[]) => run.map(({ number }) => number))

test('a run ends after an item that ends runs, and at the end of the list', () => {
  expect(numberRuns().of(itemsOf([1, 8, 16, 2, 3]))).toEqual([[1, 8], [16], [2, 3]])
  expect(numberRuns().of(itemsOf([1, 8]))).toEqual([[1, 8]])
  expect(numberRuns().of([])).toEqual([])
})

test('a changed list has the same runs as a new list, for any change', () => {
  const edit = fc.record({ at: fc.nat(60), removed: fc.nat(3), added: fc.array(fc.nat(100), { maxLength: 3 }) })
  fc.assert(
    fc.property(fc.array(fc.nat(100), { maxLength: 60 }), fc.array(edit, { maxLength: 20 }), (first, edits) => {
      const runs = numberRuns()
      let numbers = first
      for (const one of edits) {
        numbers = numbers.toSpliced(one.at, one.removed, ...one.added)
        expect(runs.of(itemsOf(numbers))).toEqual(numberRuns().of(itemsOf(numbers)))
      }
    }),
    { numRuns: 200 },
  )
})

test('unchanged runs are reused, also between two changes', () => {
  const runs = numberRuns()
  const numbers = Array.from({ length: 80 }, (_, index) => index + 1)
  const before = runs.of(itemsOf(numbers))
  const after = runs.of(itemsOf(numbers.toSpliced(70, 1, 101).toSpliced(10, 0, 102)))
  expect([before.length, after.length, after.filter((run) => before.includes(run)).length]).toEqual([10, 10, 8])
})
