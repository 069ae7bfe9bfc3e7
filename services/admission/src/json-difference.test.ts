import { expect, test } from 'vitest'
import { differences } from './json-difference.ts'

test.each([
  ['nothing', { a: [1] }, { a: [1] }, []],
  ['a new field', {}, { 'a/b~c': 1 }, [{ op: 'add', path: '/a~1b~0c', value: 1 }]],
  ['a field that is gone', { a: 1 }, {}, [{ op: 'remove', path: '/a' }]],
  ['a value inside', { a: { b: 1 } }, { a: { b: 2 } }, [{ op: 'replace', path: '/a/b', value: 2 }]],
  [
    'items at the end',
    { a: [{ x: 1 }] },
    { a: [{ x: 2 }, 3] },
    [
      { op: 'replace', path: '/a/0/x', value: 2 },
      { op: 'add', path: '/a/-', value: 3 },
    ],
  ],
  ['a shorter list', [1, 2], [2], [{ op: 'replace', path: '', value: [2] }]],
])('the patch between two values is exact, and small: %s', (_, before, after, expected) => {
  expect(differences(before, after)).toEqual(expected)
})
