import { describe, expect, test } from 'vitest'
import type { Node } from '../schema/node.ts'
import { allTypeNames, resolveType } from '../schema/resolve.ts'
import { findUnownable } from './check.ts'
import { compare } from './compare.ts'
import { describePaths } from './field-set.ts'
import { mergeOrder } from './merge.ts'
import { extract } from './remove.ts'
import { shapeOfCustomObject, shapeOfStructural } from './structural-shape-testing.ts'
import { toFieldSet } from './to-field-set.ts'
import { shapeOfNode } from './type-shape.ts'

const text: Node = { kind: 'string' }
const item: Node = {
  kind: 'struct',
  hasTypeMeta: false,
  fields: [
    { name: 'name', node: text },
    { name: 'value', node: text },
  ],
}

describe('shapes of described types', () => {
  test('SSA-45: without list type, the merge key of strategic merge names the items', () => {
    const list: Node = { kind: 'list', items: item }
    expect(shapeOfNode(list, { patchStrategy: 'merge', patchMergeKey: 'name' })).toMatchObject({ listType: 'map', keys: ['name'] })
    expect(shapeOfNode({ kind: 'list', items: text }, { patchStrategy: 'merge' })).toMatchObject({ listType: 'set' })
    expect(shapeOfNode(list, { patchStrategy: 'merge', patchMergeKey: 'name', listType: 'atomic' })).toMatchObject({ listType: 'atomic' })
    expect(shapeOfNode(list)).toMatchObject({ listType: 'atomic' })
  })

  test("SSA-43: the field's word on a struct goes before the type's", () => {
    const atomic: Node = { ...item, structType: 'atomic' }
    expect(shapeOfNode(atomic)).toMatchObject({ isAtomic: true })
    expect(shapeOfNode(atomic, { structType: 'granular' })).toMatchObject({ isAtomic: false })
    expect(shapeOfNode(item, { structType: 'atomic' })).toMatchObject({ isAtomic: true })
  })

  test('every type has a shape, and a map of items has keys', () => {
    const lists: string[] = []
    for (const name of allTypeNames()) {
      const shape = shapeOfNode(resolveType(name))
      if (shape.kind !== 'object') continue
      for (const [field, { shape: inner }] of shape.fields) {
        if (inner.kind === 'list' && inner.listType === 'map' && inner.keys.length === 0) lists.push(`${name}.${field}`)
      }
    }
    expect(lists).toEqual([])
  })
})

describe('shapes of custom resources', () => {
  test('SSA-31: the markers of the schema hold', () => {
    const schema = {
      type: 'object',
      properties: {
        list: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['b', 'a'], items: { type: 'object' } },
        port: { 'x-kubernetes-int-or-string': true },
      },
    }
    const shape = shapeOfStructural(schema)
    expect(shape).toMatchObject({ kind: 'object', isAtomic: false, values: undefined })
    expect(shape.kind === 'object' && shape.fields.get('list')?.shape).toMatchObject({ listType: 'map', keys: ['a', 'b'] })
    expect(findUnownable(shape, { port: 'http' })).toEqual([])
  })

  test('VAL-07: unknown fields are owned where they are kept, and refused where they are not', () => {
    const properties = { known: { type: 'string' } }
    const kept = shapeOfStructural({ type: 'object', properties, 'x-kubernetes-preserve-unknown-fields': true })
    expect(describePaths(toFieldSet(kept, { known: 'a', other: { b: 1 } }))).toEqual(['.known', '.other', '.other.b'])
    expect(findUnownable(shapeOfStructural({ type: 'object', properties }), { other: 1 })).toEqual(['.other: field not declared in schema'])
  })

  test('an object in an object has metadata of its own', () => {
    const shape = shapeOfStructural({ type: 'object', properties: {}, 'x-kubernetes-embedded-resource': true })
    expect(describePaths(toFieldSet(shape, { kind: 'A', metadata: { finalizers: ['a'] } }))).toContain('.metadata.finalizers[="a"]')
  })

  test('metadata is that of every object', () => {
    expect(findUnownable(shapeOfCustomObject(undefined), { metadata: { nope: 1 }, anything: 1 })).toEqual([
      '.metadata.nope: field not declared in schema',
    ])
  })
})

describe('compare', () => {
  const shape = shapeOfCustomObject(undefined)
  const differences = (before: object, after: object) => {
    const { added, modified, removed } = compare(shape, before, after)
    return { added: describePaths(added), modified: describePaths(modified), removed: describePaths(removed) }
  }

  test.each<[string, object, object, object]>([
    ['nothing', { a: { b: 1 } }, { a: { b: 1 } }, {}],
    ['a value', { a: 1 }, { a: 2 }, { modified: ['.a'] }],
    ['a part that comes, with what is in it', {}, { a: { b: 1 } }, { added: ['.a', '.a.b'] }],
    ['a part that goes', { a: { b: {} } }, {}, { removed: ['.a', '.a.b'] }],
    ['null and the empty object', { a: null }, { a: {} }, { modified: ['.a'] }],
    ['null filled', { a: null }, { a: { b: 1 } }, { added: ['.a.b'] }],
    ['an object in place of a value', { a: 1 }, { a: { b: 1 } }, { added: ['.a.b'], modified: ['.a'] }],
    ['a value in place of an object', { a: { b: 1 } }, { a: 1 }, { modified: ['.a'], removed: ['.a.b'] }],
    ['names that every object inherits', {}, { constructor: 1 }, { added: ['.constructor'] }],
    ['such names that go', JSON.parse('{"toString":1,"__proto__":2}'), {}, { removed: ['.__proto__', '.toString'] }],
    ['big integers', { a: 9007199254740993n }, { a: 9007199254740995n }, { modified: ['.a'] }],
  ])('%s', (_name, before, after, expected) => {
    expect(differences(before, after)).toEqual({ added: [], modified: [], removed: [], ...expected })
  })
})

describe('extract', () => {
  test('gives the owned parts, and the keys of their items', () => {
    const shape = shapeOfStructural({
      type: 'object',
      properties: {
        list: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: { type: 'object', properties: { name: { type: 'string' }, a: { type: 'string' }, b: { type: 'string' } } },
        },
        c: { type: 'string' },
      },
    })
    const value = { list: [{ name: 'x', a: '1', b: '2' }, { name: 'y' }], c: '3' }
    expect(extract(shape, value, toFieldSet(shape, { list: [{ name: 'x', a: '' }] }))).toEqual({ list: [{ name: 'x', a: '1' }] })
    expect(extract(shape, value, toFieldSet(shape, {}))).toBeUndefined()
  })
})

describe('order of merged lists', () => {
  test.each([
    ['abcd', 'aAcC', 'abAcdC'],
    ['abc', 'ca', 'bca'],
    ['', 'ba', 'ba'],
    ['ab', '', 'ab'],
    ['ab', 'cd', 'abcd'],
    ['abc', 'cba', 'cba'],
    ['axb', 'bya', 'xbya'],
  ])('%s with %s is %s', (live, applied, merged) => {
    expect(mergeOrder([...live], [...applied]).join('')).toBe(merged)
  })
})
