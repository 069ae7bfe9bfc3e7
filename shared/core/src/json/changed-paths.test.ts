import { expect, test } from 'vitest'
import { changedPaths } from './changed-paths.ts'

const all = { except: new Set<string>(), max: 100 }

test.each<[string, unknown, unknown, readonly string[]]>([
  ['equal values', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
  ['a member that changes', { spec: { size: 1, color: 'red' } }, { spec: { size: 2, color: 'red' } }, ['spec.size']],
  ['members that come and go', { a: 1 }, { b: 1 }, ['a', 'b']],
  ['items of a list', { ports: [80, 81] }, { ports: [80, 82, 83] }, ['ports[1]', 'ports[2]']],
  ['a list that becomes shorter', { ports: [{ n: 1 }, { n: 2 }] }, { ports: [{ n: 3 }] }, ['ports[0].n', 'ports[1]']],
  [
    'a name with dots',
    { annotations: { 'example.com/a': '1' } },
    { annotations: { 'example.com/a': '2' } },
    ['annotations[example.com/a]'],
  ],
  ['another kind of value', { a: { b: 1 } }, { a: [1] }, ['a']],
  ['a value that becomes null', { a: { b: 1 } }, { a: { b: null } }, ['a.b']],
  ['another whole', 1, 2, ['']],
])('the changed paths of %s end at the innermost changed members', (_what, before, after, expected) => {
  expect(changedPaths(before, after, all)).toEqual(expected)
})

test('changed paths leave out excepted paths, and end at their bound', () => {
  const [before, after] = [1, 2].map((n) => ({ metadata: { managedFields: [n], generation: n }, spec: { a: n, b: n, c: n } }))
  const except = new Set(['metadata.managedFields'])
  expect(changedPaths(before, after, { except, max: 3 })).toEqual(['metadata.generation', 'spec.a', 'spec.b'])
})

test('members deeper than the bound are compared as a whole', () => {
  const deep = (depth: number, value: number): unknown => (depth === 0 ? { value, same: 1 } : { in: deep(depth - 1, value) })
  expect(changedPaths(deep(200, 1), deep(200, 1), all)).toEqual([])
  expect(changedPaths(deep(200, 1), deep(200, 2), all)).toEqual([Array.from({ length: 64 }, () => 'in').join('.')])
})
