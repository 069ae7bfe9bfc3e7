import { describe, expect, test } from 'vitest'
import type { Node } from '../description/node.ts'
import { allTypeNames, resolveType } from '../schema/resolve.ts'
import { parseStructural } from '../structural/parse.ts'
import { shapeOfCustomObject as shapeOfParsedCustomObject, shapeOfStructural as shapeOfParsedStructural } from '../structural/shape.ts'
import { findUnownable } from './check.ts'
import { compare } from './compare.ts'
import { describePaths, emptySet } from './field-set.ts'
import { mergeOrder } from './merge.ts'
import type { ObjectShape, Shape } from './shape.ts'
import { toFieldSet } from './to-field-set.ts'
import { shapeOfNode } from './type-shape.ts'

function shapeOfCustomObject(schema: unknown): ObjectShape {
  return shapeOfParsedCustomObject(schema === undefined ? undefined : parseStructural(schema))
}

function shapeOfStructural(schema: unknown): Shape {
  return shapeOfParsedStructural(parseStructural(schema))
}

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
  test('SSA-45: without a list type, the merge key of strategic merge identifies the items', () => {
    const list: Node = { kind: 'list', items: item }
    expect(shapeOfNode(list, { patchStrategy: 'merge', patchMergeKey: 'name' })).toMatchObject({ listType: 'map', keys: ['name'] })
    expect(shapeOfNode({ kind: 'list', items: text }, { patchStrategy: 'merge' })).toMatchObject({ listType: 'set' })
    expect(shapeOfNode(list, { patchStrategy: 'merge', patchMergeKey: 'name', listType: 'atomic' })).toMatchObject({ listType: 'atomic' })
    expect(shapeOfNode(list)).toMatchObject({ listType: 'atomic' })
  })

  test('SSA-43: the topology at a struct field overrides the topology of its type', () => {
    const atomic: Node = { ...item, structType: 'atomic' }
    expect(shapeOfNode(atomic)).toMatchObject({ isAtomic: true })
    expect(shapeOfNode(atomic, { structType: 'granular' })).toMatchObject({ isAtomic: false })
    expect(shapeOfNode(item, { structType: 'atomic' })).toMatchObject({ isAtomic: true })
  })

  test('SSA-41, SSA-42: a map is atomic if its field says so', () => {
    const map: Node = { kind: 'map', values: text }
    expect(shapeOfNode(map)).toMatchObject({ isAtomic: false, values: { kind: 'scalar', type: 'string' } })
    expect(shapeOfNode(map, { mapType: 'atomic' })).toMatchObject({ isAtomic: true })
    expect(shapeOfNode(map, { mapType: 'granular' })).toMatchObject({ isAtomic: false })
  })

  test('SSA-37: keys of items are sorted, each with the default of its field', () => {
    const fields = [
      { name: 'protocol', node: text, default: 'TCP' },
      { name: 'port', node: { kind: 'int32' } as const },
    ]
    const list: Node = { kind: 'list', items: { kind: 'struct', hasTypeMeta: false, fields } }
    const expected = { listType: 'map', keys: ['port', 'protocol'], keyDefaults: [undefined, 'TCP'] }
    expect(shapeOfNode(list, { listType: 'map', listMapKeys: ['protocol', 'port'] })).toMatchObject(expected)
    const byPatch = { listType: 'map', keys: ['protocol'], keyDefaults: ['TCP'] }
    expect(shapeOfNode(list, { patchStrategy: 'merge,retainKeys', patchMergeKey: 'protocol' })).toMatchObject(byPatch)
    expect(shapeOfNode({ kind: 'list', items: text }, { listType: 'map', listMapKeys: ['a'] })).toMatchObject({ keyDefaults: [undefined] })
  })

  test.each<[Node['kind'], object]>([
    ['string', { kind: 'scalar', type: 'string' }],
    ['bytes', { kind: 'scalar', type: 'string' }],
    ['boolean', { kind: 'scalar', type: 'boolean' }],
    ['int32', { kind: 'scalar', type: 'number' }],
    ['int64', { kind: 'scalar', type: 'number' }],
    ['double', { kind: 'scalar', type: 'number' }],
    ['time', { kind: 'scalar', type: 'any' }],
    ['microTime', { kind: 'scalar', type: 'any' }],
    ['quantity', { kind: 'scalar', type: 'any' }],
    ['intOrString', { kind: 'scalar', type: 'any' }],
    ['fieldsV1', { kind: 'object', isAtomic: false }],
    ['raw', { kind: 'untyped', isAtomic: true }],
    ['json', { kind: 'untyped', isAtomic: true }],
  ])('a value of the type %s', (kind, shape) => {
    expect(shapeOfNode({ kind } as Node)).toMatchObject(shape)
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
  test('SSA-31: follow the markers of the schema', () => {
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

  test('VAL-07: unknown fields are owned if they are kept, and refused otherwise', () => {
    const properties = { known: { type: 'string' } }
    const kept = shapeOfStructural({ type: 'object', properties, 'x-kubernetes-preserve-unknown-fields': true })
    expect(describePaths(toFieldSet(kept, { known: 'a', other: { b: 1 } }))).toEqual(['.known', '.other', '.other.b'])
    expect(findUnownable(shapeOfStructural({ type: 'object', properties }), { other: 1 })).toEqual(['.other: field not declared in schema'])
  })

  test('give an embedded object its own metadata', () => {
    const shape = shapeOfStructural({ type: 'object', properties: {}, 'x-kubernetes-embedded-resource': true })
    expect(describePaths(toFieldSet(shape, { kind: 'A', metadata: { finalizers: ['a'] } }))).toContain('.metadata.finalizers[="a"]')
  })

  test('give metadata the shape of ObjectMeta', () => {
    expect(findUnownable(shapeOfCustomObject(undefined), { metadata: { nope: 1 }, anything: 1 })).toEqual([
      '.metadata.nope: field not declared in schema',
    ])
  })
})

describe('items of a list that repeat the keys of others', () => {
  const ports = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['port'], items: { type: 'object' } }
  const shape = shapeOfStructural({ type: 'object', properties: { ports } })
  const one = { port: 1, name: 'a' }
  const leaf = ['.ports[port=1]']
  const all = [...leaf, '.ports[port=1].name', '.ports[port=1].port']

  test.each<[string, object[], object[], Partial<Record<'added' | 'modified' | 'removed', string[]>>]>([
    ['added beside a single one', [one], [one, { port: 1 }], { added: leaf, removed: all }],
    ['changed', [one, { port: 1 }], [one, one], { modified: leaf }],
    ['unchanged', [one, { port: 1 }], [{ ...one }, { port: 1 }], {}],
    ['reduced to a single one', [one, one], [one], { added: all, removed: leaf }],
    ['removed', [one, one, { port: 2 }], [{ port: 2 }], { removed: leaf }],
  ])('are compared as one leaf: %s', (_name, before, after, expected) => {
    const found = compare(shape, { ports: before }, { ports: after })
    const paths = Object.entries(found).map(([name, set]) => [name, describePaths(set)] as const)
    expect(Object.fromEntries(paths.filter(([, list]) => list.length > 0))).toEqual(expected)
  })

  test('are one leaf in a list that is new', () => {
    expect(describePaths(compare(shape, {}, { ports: [one, one] }).added)).toEqual(['.ports', ...leaf])
  })
})

describe('the paths that differ between two objects', () => {
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
    ['null in place of members', { a: { b: 1 } }, { a: null }, { removed: ['.a.b'] }],
  ])('are as expected: %s', (_name, before, after, expected) => {
    expect(differences(before, after)).toEqual({ added: [], modified: [], removed: [], ...expected })
  })

  test('exclude an empty object in place of a value', () => {
    expect(compare(shape, { a: 1 }, { a: {} }).added).toBe(emptySet)
    expect(compare(shape, { a: {} }, { a: 1 }).removed).toBe(emptySet)
  })
})

describe('the paths that differ under a schema', () => {
  const keyed = { type: 'object', properties: { id: { type: 'integer' }, note: { type: 'string' } } }
  const shape = shapeOfStructural({
    type: 'object',
    properties: {
      tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      parts: { type: 'array', items: keyed, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['id'] },
      inner: { type: 'object', properties: { a: { type: 'string' } } },
    },
  })
  const differences = (before: object, after: object) => {
    const { added, modified, removed } = compare(shape, before, after)
    return { added: describePaths(added), modified: describePaths(modified), removed: describePaths(removed) }
  }

  test.each<[string, object, object, object]>([
    ['a set that comes, with its items', {}, { tags: ['a'] }, { added: ['.tags', '.tags[="a"]'] }],
    ['a set that goes', { tags: ['a'] }, {}, { removed: ['.tags', '.tags[="a"]'] }],
    ['items that come and go', { tags: ['a', 'b'] }, { tags: ['b', 'c'] }, { added: ['.tags[="c"]'], removed: ['.tags[="a"]'] }],
    ['an empty list for null', { tags: null }, { tags: [] }, { modified: ['.tags'] }],
    ['an empty list that loses its items', { tags: ['a'] }, { tags: [] }, { removed: ['.tags[="a"]'] }],
    ['a member of an item', { parts: [{ id: 1, note: 'x' }] }, { parts: [{ id: 1, note: 'y' }] }, { modified: ['.parts[id=1].note'] }],
    [
      'an item that comes, with its members',
      { parts: [] },
      { parts: [{ id: 1, note: 'x' }] },
      { added: ['.parts[id=1]', '.parts[id=1].id', '.parts[id=1].note'] },
    ],
    ['a struct that comes as null', {}, { inner: null }, { added: ['.inner'] }],
    ['a field that the schema does not have', { nope: 1 }, { nope: 2 }, {}],
    ['a struct that comes with such a field and an absent one', {}, { inner: { nope: 1, a: undefined } }, { added: ['.inner'] }],
  ])('are as expected: %s', (_name, before, after, expected) => {
    expect(differences(before, after)).toEqual({ added: [], modified: [], removed: [], ...expected })
  })
})

describe('the paths of an applied object', () => {
  const shape = shapeOfStructural({
    type: 'object',
    properties: {
      whole: { type: 'array', items: { type: 'object' } },
      set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      inner: { type: 'object', properties: { a: { type: 'string' } } },
      wholeMap: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
    },
  })

  test.each<[string, object, string[]]>([
    ['an atomic list goes whole', { whole: [{ a: 1 }] }, ['.whole']],
    ['an atomic map goes whole', { wholeMap: { a: 'x' } }, ['.wholeMap']],
    ['items of a set go one by one', { set: ['a'] }, ['.set[="a"]']],
    ['an empty set says nothing', { set: [] }, []],
    ['null is a leaf', { set: null, inner: null }, ['.inner', '.set']],
    ['a struct is not owned itself', { inner: { a: 'x' } }, ['.inner.a']],
    ['an empty struct is', { inner: {} }, ['.inner']],
    ['unknown fields and absent ones say nothing', { nope: 1, inner: { a: undefined } }, []],
    ['items that go by no step say nothing', { set: [null, 'a'] }, ['.set[="a"]']],
  ])('%s', (_name, value, paths) => {
    expect(describePaths(toFieldSet(shape, value))).toEqual(paths)
  })
})

describe('the order of merged lists', () => {
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
