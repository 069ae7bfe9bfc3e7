import { describe, expect, test } from 'vitest'
import { mergeApply } from './merge.ts'
import { anyScalar, deducedShape, listShape, mapShape, type ObjectShape, type Shape } from './shape.ts'

const map = mapShape(anyScalar, { isAtomic: false })
const set = listShape({ listType: 'set', items: anyScalar })
const struct: ObjectShape = { kind: 'object', isAtomic: false, fields: new Map([['a', { element: 'f:a', shape: map }]]), values: undefined }

describe('SSA-05: an applied object merged into the live one', () => {
  test.each<[string, Shape, unknown, unknown, unknown]>([
    ['what is left out stays', map, { a: 1, b: 2 }, { b: 3, c: 4 }, { a: 1, b: 3, c: 4 }],
    ['nothing is applied', map, { a: 1 }, undefined, { a: 1 }],
    ['nothing was there', map, undefined, { a: 1 }, { a: 1 }],
    ['null was there', map, null, { a: 1 }, { a: 1 }],
    ['null over what has members', map, { a: 1 }, null, { a: 1 }],
    ['an empty object over what has members', map, { a: 1 }, {}, { a: 1 }],
    ['null over an empty object', map, {}, null, null],
    ['an empty object over null', map, null, {}, {}],
    ['a member that becomes null', map, { a: 1 }, { a: null }, { a: null }],
    ['an atomic map', mapShape(anyScalar, { isAtomic: true }), { a: 1 }, { b: 2 }, { b: 2 }],
    ['a field of a struct', struct, { a: { x: 1 } }, { a: { y: 2 } }, { a: { x: 1, y: 2 } }],
    ['a field that the struct does not declare', struct, { z: { x: 1 } }, { z: { y: 2 } }, { z: { y: 2 } }],
    ['members without schema', deducedShape, { a: { b: 1 }, c: [1] }, { a: { d: 2 }, c: [2] }, { a: { b: 1, d: 2 }, c: [2] }],
    ['null over members without schema', deducedShape, { b: 1 }, null, { b: 1 }],
    ['an object over a text without schema', deducedShape, 'x', { b: 1 }, { b: 1 }],
    ['a text over an object without schema', deducedShape, { b: 1 }, 'x', 'x'],
    ['items of a set', set, ['a', 'b'], ['c', 'b'], ['a', 'c', 'b']],
    ['an empty list over items', set, ['a'], [], ['a']],
    ['an empty list over null', set, null, [], []],
    ['null over an empty list', set, [], null, null],
    ['items over an empty list', set, [], ['b', 'a'], ['b', 'a']],
    ['an atomic list', listShape({ listType: 'atomic', items: anyScalar }), ['a'], ['b'], ['b']],
  ])('%s', (_which, shape, live, config, merged) => {
    expect(mergeApply(shape, live, config)).toEqual(merged)
  })

  test('treats a member called __proto__ like any other', () => {
    const merged = mergeApply(map, JSON.parse('{"__proto__":1}'), JSON.parse('{"a":2}'))
    expect(JSON.stringify(merged)).toBe('{"__proto__":1,"a":2}')
  })
})

const items = listShape({ listType: 'map', items: deducedShape, keys: ['name'] })

describe('an unchanged part of an apply is the live part itself', () => {
  test.each<[string, Shape, unknown, unknown]>([
    ['members', deducedShape, { a: { b: 1 }, c: [1, { d: 2 }] }, { c: [1, { d: 2 }] }],
    ['items of a set in their order', set, ['a', 'b'], ['a', 'b']],
    ['some items of a set', set, ['a', 'b'], ['a']],
    ['items with keys', items, [{ name: 'a', x: 1 }, { name: 'b' }], [{ name: 'a' }, { name: 'b' }]],
    ['some items with keys', items, [{ name: 'a', x: 1 }, { name: 'b' }], [{ name: 'b' }]],
    ['an atomic map in another order', mapShape(anyScalar, { isAtomic: true }), { a: 1, b: 2 }, { b: 2, a: 1 }],
  ])('such as %s', (_which, shape, live, config) => {
    expect(mergeApply(shape, live, config)).toBe(live)
  })

  test('beside changed parts', () => {
    const live = {
      a: { x: 1 },
      b: [
        { name: 'c', y: { z: 1 } },
        { name: 'd', e: 1 },
      ],
    }
    const shape: ObjectShape = {
      kind: 'object',
      isAtomic: false,
      fields: new Map([['b', { element: 'f:b', shape: items }]]),
      values: deducedShape,
    }
    const config = {
      a: { x: 1 },
      b: [
        { name: 'c', y: { z: 1 } },
        { name: 'd', e: 2 },
      ],
    }
    const merged = mergeApply(shape, live, config) as typeof live
    expect(merged).toEqual(config)
    expect([merged.a === live.a, merged.b[0] === live.b[0], merged.b[1] === live.b[1]]).toEqual([true, true, false])
    expect(live.b[1]).toEqual({ name: 'd', e: 1 })
  })

  test('next to an item that is applied after equal items', () => {
    const live = [{ name: 'a', x: 1 }, { name: 'b' }]
    expect(mergeApply(items, live, [{ name: 'a' }, { name: 'b' }, { name: 'c' }])).toEqual([...live, { name: 'c' }])
  })

  test('items in another order are merged by their keys', () => {
    const live = [{ name: 'a', x: 1 }, { name: 'b' }]
    expect(mergeApply(items, live, [{ name: 'b', y: 1 }, { name: 'a' }])).toEqual([
      { name: 'b', y: 1 },
      { name: 'a', x: 1 },
    ])
  })
})
