import { expect, test } from 'vitest'
import { prettyJson } from './pretty-json.ts'

test('QP-21: pretty JSON equals JSON.stringify with two spaces of indentation', () => {
  const value = { a: [1, 2, { b: null }], c: {}, d: [], e: 'x{[,:]}"\\', 'f "g"': true, h: { i: [[]] } }
  expect(prettyJson(JSON.stringify(value))).toBe(JSON.stringify(value, undefined, 2))
})

test('QP-21: large integers keep their digits', () => {
  expect(prettyJson('{"a":9007199254740993}')).toBe('{\n  "a": 9007199254740993\n}')
})
