import { describe, expect, test } from 'vitest'
import { findUnownable, findUnownableParts, joinProblems, ownedDepthMax } from './check.ts'
import { anyScalar, deducedShape, listShape, mapShape, type ObjectShape, type Shape } from './shape.ts'

const number: Shape = { kind: 'scalar', type: 'number' }
const text: Shape = { kind: 'scalar', type: 'string' }
const truth: Shape = { kind: 'scalar', type: 'boolean' }

/** Objects or lists nested to a number of levels below the root. */
const nested = (levels: number, wrap: (inner: unknown) => unknown): unknown => {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = wrap(value)
  return value
}

describe('an object that cannot be owned by its parts', () => {
  test.each<[string, Shape, unknown]>([
    ['a number', number, 1.5],
    ['an integer beyond 2^53', number, 9007199254740993n],
    ['a text', text, ''],
    ['a truth value', truth, false],
    ['a number where any scalar is meant', anyScalar, 1],
    ['a text where any scalar is meant', anyScalar, '50%'],
    ['null anywhere', number, null],
    ['an absent member', mapShape(number, { isAtomic: false }), { a: undefined }],
    ['different items of an atomic list', listShape({ listType: 'atomic', items: text }), ['a', 'b']],
    ['the same item of an atomic list twice', listShape({ listType: 'atomic', items: text }), ['a', 'a']],
  ])('is not %s', (_what, shape, value) => {
    expect(findUnownable(shape, value)).toEqual([])
  })

  test.each<[string, Shape, unknown, string]>([
    ['a text for a truth value', truth, 'x', ': expected boolean, got &{x}'],
    ['a list for any scalar', anyScalar, [1], ': expected any scalar, got &{[1]}'],
    ['an object for a number', number, { a: 1 }, ': expected numeric (int or float), got map[string]interface {}'],
    [
      'null in a set',
      listShape({ listType: 'set', items: text }),
      [null],
      ": element 0: associative list without keys has an element that's an explicit null",
    ],
    [
      'a wrong item of an atomic list',
      listShape({ listType: 'atomic', items: text }),
      ['a', 1],
      '[1]: expected string, got &value.valueUnstructured{Value:1}',
    ],
    [
      'a wrong item of a set',
      listShape({ listType: 'set', items: text }),
      ['a', 1],
      '[=1]: expected string, got &value.valueUnstructured{Value:1}',
    ],
    [
      'a wrong member of an item',
      listShape({ listType: 'map', items: mapShape(number, { isAtomic: false }), keys: ['id'] }),
      [{ id: 1, size: 'x' }],
      '[id=1].size: expected numeric (int or float), got string',
    ],
  ])('is %s', (_what, shape, value, problem) => {
    expect(findUnownable(shape, value)).toEqual([problem])
  })

  test.each<[string, (inner: unknown) => unknown]>([
    ['objects', (inner) => ({ a: inner })],
    ['lists', (inner) => [inner]],
  ])('has a value below a thousand levels of %s without schema', (_what, wrap) => {
    expect(findUnownable(deducedShape, nested(ownedDepthMax, wrap))).toEqual([])
    expect(findUnownable(deducedShape, nested(ownedDepthMax + 1, wrap))).toEqual([
      expect.stringMatching(/: nested deeper than 1000 levels$/),
    ])
  })

  test('below a list without schema is reported with its path', () => {
    const deep = nested(ownedDepthMax, (inner) => [inner])
    expect(findUnownable(deducedShape, { list: ['x', deep] })[0]).toMatch(/^\.list\[1\](\[0\])+: nested/)
  })
})

test('one problem is printed as a line, and several as a list', () => {
  expect(joinProblems(['a'])).toBe('a')
  expect(joinProblems(['a', 'b'])).toBe('errors:\n  a\n  b')
})

test('parts of a live object are checked once, and their problems are reported each time', () => {
  const list = listShape({ listType: 'map', items: deducedShape, keys: ['name'] })
  const shape: ObjectShape = {
    kind: 'object',
    isAtomic: false,
    fields: new Map(['good', 'bad'].map((name) => [name, { element: `f:${name}`, shape: list }])),
    values: undefined,
  }
  let reads = 0
  const item = {
    get name() {
      reads += 1
      return 'a'
    },
  }
  const object = { good: [item, item], bad: 'b', other: 1 }
  const found = ['.bad: expected list, got &{b}', '.other: field not declared in schema']
  expect(findUnownableParts(shape, object)).toEqual(found)
  expect(findUnownable(shape, object)).toEqual(['.good: duplicate entries for key [name="a"]', ...found])
  const before = reads
  expect(findUnownableParts(shape, { ...object })).toEqual(found)
  expect(reads).toBe(before)
})

test('a part that the schema does not declare is found, also in a check of its parts', () => {
  const shape: ObjectShape = { kind: 'object', isAtomic: false, fields: new Map(), values: undefined }
  expect(findUnownableParts(shape, { other: { a: 1 } })).toEqual(['.other: field not declared in schema'])
})

test('after 2,000 problems a value is checked no further, and its other parts do not count as checked', () => {
  const list = listShape({ listType: 'set', items: number })
  const fields = new Map(['full', 'late'].map((name) => [name, { element: `f:${name}`, shape: list }]))
  const shape: ObjectShape = { kind: 'object', isAtomic: false, fields, values: undefined }
  const object = { full: Array.from({ length: 9_000 }, (_, index) => `x${index}`), late: ['x'] }
  expect(findUnownable(shape, object)).toHaveLength(2_000)
  expect(findUnownable(shape, { full: Array(9_000).fill(1) })).toHaveLength(2_000)
  expect(findUnownable(mapShape(number, { isAtomic: false }), object.full)).toHaveLength(1)
  expect(findUnownable(mapShape(number, { isAtomic: false }), { ...object.full })).toHaveLength(2_000)
  expect(findUnownableParts(shape, object)).toHaveLength(2_000)
  expect(findUnownableParts(shape, { late: object.late })).toEqual(['.late[="x"]: expected numeric (int or float), got string'])
})
