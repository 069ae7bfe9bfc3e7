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
  ])('cannot be %s', (_what, item, problem) => {
    expect(itemElement(map, item)).toBeUndefined()
    expect(itemProblem(map, item)).toBe(problem)
  })

  test('may lack some of its keys, but not all', () => {
    const both = listShape({ listType: 'map', items: deducedShape, keys: ['b', 'a'] })
    expect([{ a: 1 }, { a: 1, b: null }, { b: 2 }].map((item) => itemElement(both, item))).toEqual(['k:{"a":1}', 'k:{"a":1}', 'k:{"b":2}'])
    expect(itemElement(both, {})).toBeUndefined()
    const omits = `omits all key fields ["a" "b"] (and doesn't have default values for any key fields)`
    expect(itemProblem(both, {})).toBe(`associative list with keys has an element that ${omits}`)
  })

  test('needs an own key, not one inherited from Object.prototype', () => {
    const inherited = listShape({ listType: 'map', items: deducedShape, keys: ['constructor'] })
    expect(itemElement(inherited, {})).toBeUndefined()
  })
})

describe('items of a list', () => {
  test('keep their order', () => {
    const { byElement, repeated } = itemsByElement(set, ['b', 'a'])
    expect([...byElement]).toEqual([
      ['v:"b"', 'b'],
      ['v:"a"', 'a'],
    ])
    expect(repeated).toBeUndefined()
  })

  test('of the same path element are found together', () => {
    const items = [{ port: 1, name: 'x' }, { port: 2 }, { port: 1, protocol: 'TCP' }]
    const { byElement, repeated } = itemsByElement(map, items)
    expect([...byElement.values()]).toEqual([items[0], items[1]])
    expect([...(repeated ?? [])]).toEqual([['k:{"port":1,"protocol":"TCP"}', [items[0], items[2]]]])
  })

  test('without a path element cannot be owned one by one', () => {
    const keyed = listShape({ listType: 'map', items: deducedShape, keys: ['port'] })
    expect(() => itemsByElement(keyed, [{ port: 1 }, {}])).toThrow(Unownable)
  })
})
