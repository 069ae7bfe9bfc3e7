import { expect, test } from 'vitest'
import { isTextOfInteger, toInteger } from './labels.ts'

test.each([
  ['-9223372036854775808', true],
  ['-9223372036854775809', false],
  ['9223372036854775807', true],
  ['9223372036854775808', false],
  ['+1', true],
  ['007', true],
  ['', false],
  ['-', false],
  ['1.0', false],
  ['a1', false],
  ['1a', false],
  [' 1', false],
])('QP-22: %j is a decimal int64: %s', (text, isInteger) => {
  expect(isTextOfInteger(text)).toBe(isInteger)
})

test.each([
  ['+12', 12n],
  ['-12', -12n],
  ['0012', 12n],
  ['9007199254740993', 9007199254740993n],
])('%s is returned unchanged', (text, value) => {
  expect(toInteger(text)).toBe(value)
})
