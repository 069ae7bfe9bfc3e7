import { expect, test } from 'vitest'
import { printColumns } from './columns.ts'

const rows = [
  ['NAME', 'AGE', 'MESSAGE', 'NODE'],
  ['a-name-that-is-big', '5s', 'this is a text of thirty chars', 'a-node-of-twenty-chr'],
]

test('each column is as wide as its widest text, and lines have no blanks at their end', () => {
  expect(
    printColumns([
      ['A', 'B', ''],
      ['long', 'x', ''],
    ]),
  ).toBe('A      B\nlong   x\n')
})

test('rows that fit are not cut', () => {
  expect(printColumns(rows, { widthMax: 80, whole: 1 })).toBe(printColumns(rows))
  expect(Math.max(...lengthsOf(printColumns(rows)))).toBe(80)
})

test('the widest columns are cut first, until the table fits the terminal', () => {
  const text = printColumns(rows, { widthMax: 60, whole: 1 })
  expect(text).toBe('NAME                 AGE   MESSAGE           NODE\na-name-that-is-big   5s    this is a text…   a-node-of-twen…\n')
  expect(Math.max(...lengthsOf(text))).toBe(60)
})

test('names are never cut, and no column has fewer than 8 characters, at any width', () => {
  const text = printColumns(rows, { widthMax: 10, whole: 1 })
  expect(text).toContain('a-name-that-is-big   5s    this is…   a-node-…')
})

function lengthsOf(text: string): number[] {
  return text.split('\n').map((line) => line.length)
}
