import { describe, expect, test } from 'vitest'
import { itemElement, itemProblem, itemsByElement, Unownable } from './list-items.ts'
import { anyScalar, deducedShape, listShape } from './shape.ts'

const set = listShape({ listType: 'set', items: anyScalar })
const map = listShape({
  listType: 'map',
  items: deducedShape,
  keys: ['protocol', 'port'],
  defaultOf: (key) => (key === 'protocol' ? 'TCP' : undefined),
})

describe('SSA-36: an item of a set', () => {
  test('is identified by its value', () => {
    expect(['a', 1, true].map((item) => itemElement(set, item))).toEqual(['v:"a"', 'v:1', 'v:true'])
  })

  test.each<[string, unknown, string]>([
    ['null', null, "associative list without keys has an element that's an explicit null"],
    ['a list', ['a'], 'not supported: associative list with lists as elements'],
    ['an object', { a: 1 }, "associative list without keys has an element that's a map type"],
  ])('cannot be %s', (_what, item, problem) => {
    expect(itemElement(set, item)).toBeUndefined()
    expect(itemProblem(set, item)).toBe(problem)
  })

  test('cannot be absent', () => {
    expect(itemElement(set, undefined)).toBeUndefined()
  })
})

describe('SSA-37: an item of a map', () => {
  test('is identified by its sorted keys, with defaults for absent keys', () => {
    expect(itemElement(map, { protocol: 'UDP', port: 1, name: 'a' })).toBe('k:{"port":1,"protocol":"UDP"}')
    expect(itemElement(map, { port: 1 })).toBe('k:{"port":1,"protocol":"TCP"}')
  })

  test.each<[string, unknown, string]>([
    ['null', null, 'associative list with keys may not have a null element'],
    ['a text', 'a', 'associative list with keys may not have non-map elements'],
    ['a list', [1], 'associative list with keys may not have non-map elements'],
    ['without a key', {}, `associative list with keys has an element that omits key field "port" (and doesn't have default value)`],
    [
      'with null as a key',
      { protocol: 'TCP', port: null },
      `associative list with keys has an element that omits key field "port" (and doesn't have default value)`,
    ],
  ])('cannot be %s', (_what, item, problem) => {
    expect(itemElement(map, item)).toBeUndefined()
    expect(itemProblem(map, item)).toBe(problem)
  })

  test('needs an own key, not one inherited from Object.prototype', () => {
    const inherited = listShape({ listType: 'map', items: deducedShape, keys: ['constructor'] })
    expect(itemElement(inherited, {})).toBeUndefined()
  })

  test('is reported with the first absent key, not with a present key', () => {
    const both = listShape({ listType: 'map', items: deducedShape, keys: ['a', 'b'] })
    expect(itemProblem(both, { a: 1 })).toContain('omits key field "b"')
  })
})

describe('SSA-40: items with the same path element', () => {
  test('cannot be owned separately', () => {
    expect(() => itemsByElement(set, ['a', 'b', 'a'])).toThrow(new Unownable('duplicate entries'))
    expect(() => itemsByElement(map, [{ port: 1 }, {}])).toThrow(/omits key field "port"/)
  })

  test('keep their order otherwise', () => {
    expect([...itemsByElement(set, ['b', 'a'])]).toEqual([
      ['v:"b"', 'b'],
      ['v:"a"', 'a'],
    ])
  })
})
