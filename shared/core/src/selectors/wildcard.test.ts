import { expect, test } from 'vitest'
import { wildcard } from './wildcard.ts'

const rows: [pattern: string, matched: string[], others: string[]][] = [
  ['', [''], ['a']],
  ['a.c', ['a.c'], ['abc', 'a.c ', '']],
  ['*', ['', 'a', '*', 'a\nb'], []],
  ['**', ['', 'a'], []],
  ['a*', ['a', 'ab'], ['', 'ba']],
  ['*a', ['a', 'ba'], ['', 'ab']],
  ['ab*ba', ['abba', 'ab-ba'], ['aba', 'ab', 'abab']],
  ['a*b*c', ['abc', 'a-b-b-c', 'abcbc'], ['ac', 'acb', 'abcb']],
  ['*a*a*', ['aa', 'bababab'], ['a', 'bab']],
  ['a*aa*a', ['aaaa', 'abaaba'], ['aaa', 'aaba']],
  ['manager/*', ['manager/v1 (linux)', 'manager/'], ['manager', 'a/manager/v1']],
]

test.each(rows)('the pattern %j matches %j and not %j', (pattern, matched, others) => {
  const matches = wildcard(pattern)
  expect([...matched, ...others].filter(matches)).toEqual(matched)
})

test('a pattern of many stars is matched in linear time', () => {
  const text = 'a'.repeat(100_000)
  expect(wildcard('*a'.repeat(1_000))(text)).toBe(true)
  expect(wildcard(`${'*a'.repeat(1_000)}b*`)(text)).toBe(false)
})
