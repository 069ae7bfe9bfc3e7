import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  describePaths,
  difference,
  emptySet,
  equalSets,
  type FieldSet,
  intersection,
  parseFieldSet,
  printFieldSet,
  recursiveDifference,
  setOfPaths,
  union,
  unionOfAll,
} from './field-set.ts'
import { describeElement, parseElement, printElement, sortElements } from './path-element.ts'

const set = (fields: unknown): FieldSet => parseFieldSet(fields) as FieldSet

describe('SSA-65: the form of a stored set', () => {
  test.each([
    ['fields', { 'f:spec': { 'f:replicas': {} } }],
    ['a container beside what is in it', { 'f:labels': { '.': {}, 'f:app': {} } }],
    ['items by key', { 'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } } }],
    ['items by value', { 'f:finalizers': { 'v:1': {}, 'v:"a"': {}, 'v:true': {} } }],
    ['items by place', { 'f:list': { 'i:0': {}, 'i:11': {} } }],
    ['names with dots and strokes', { 'f:annotations': { 'f:example.com/a.b': {} } }],
    ['special characters', { 'f:list': { 'v:"\\u003ca\\u003e\\u0026"': {}, 'v:"tab\\tquote\\"back\\\\b"': {} } }],
    ['nothing', {}],
  ])('%s are parsed to the same set', (_name, fields) => {
    expect(JSON.stringify(printFieldSet(set(fields)))).toBe(JSON.stringify(fields))
  })

  test('MF-06: prints elements in one order: the container, fields by name, keys, values, indexes', () => {
    const given = {
      'i:10': {},
      'i:9': {},
      'v:"b"': {},
      'v:2': {},
      'v:10': {},
      'k:{"name":"b"}': {},
      'k:{"name":"a b"}': {},
      'k:{"name":"a"}': {},
    }
    const mixed = { ...given, 'f:b': {}, 'f:a': {}, 'f:B': {}, '.': {} }
    const printed = printFieldSet(set({ 'f:x': mixed }))['f:x'] as object
    expect(Object.keys(printed)).toEqual([
      '.',
      'f:B',
      'f:a',
      'f:b',
      'k:{"name":"a"}',
      'k:{"name":"a b"}',
      'k:{"name":"b"}',
      'v:2',
      'v:10',
      'v:"b"',
      'i:9',
      'i:10',
    ])
  })

  test('sorts the keys of an item, in any written order', () => {
    expect(printFieldSet(set({ 'k:{"protocol":"TCP", "port":80}': {} }))).toEqual({ 'k:{"port":80,"protocol":"TCP"}': {} })
  })

  test.each([['x:a'], ['k:[1]'], ['k:{'], ['i:one'], ['i:1a'], ['i:a1'], [`i:${'1'.repeat(16)}`], ['v:']])(
    'refuses %s as an element, and a set with it',
    (key) => {
      expect(parseFieldSet({ [key]: {} })).toBeUndefined()
    },
  )

  test('refuses a set whose leaves are no objects', () => {
    expect(parseFieldSet({ 'f:a': 1 })).toBeUndefined()
    expect(parseFieldSet([])).toBeUndefined()
    expect(parseFieldSet({ 'f:a': { 'f:b': { 'x:c': {} } } })).toBeUndefined()
  })

  test('joins one element written in two ways, with the contents of both', () => {
    const twice = { 'k:{"a":1,"b":2}': { 'f:x': {} }, 'k:{"b":2, "a":1}': { 'f:y': {} } }
    expect(printFieldSet(set(twice))).toEqual({ 'k:{"a":1,"b":2}': { 'f:x': {}, 'f:y': {} } })
  })

  test('keeps integers beyond 2^53 exact', () => {
    expect(printFieldSet(set({ 'v:9007199254740993': {} }))).toEqual({ 'v:9007199254740993': {} })
  })
})

describe('path elements', () => {
  test.each([
    ['f:name', '.name'],
    ['k:{"port":80,"protocol":"TCP"}', '[port=80,protocol="TCP"]'],
    ['v:"a"', '[="a"]'],
    ['i:3', '[3]'],
  ])('%s is shown as %s', (element, text) => {
    expect(describeElement(element)).toBe(text)
    const parsed = parseElement(element)
    expect(parsed && printElement(parsed)).toBe(element)
  })

  test('integers beyond 2^53 are shown exactly', () => {
    expect(describeElement('v:9007199254740993')).toBe('[=9007199254740993]')
    expect(describeElement('k:{"id":9007199254740993}')).toBe('[id=9007199254740993]')
  })

  test('keys are shown by name', () => {
    expect(describeElement('k:{"b":1,"a":2}')).toBe('[a=2,b=1]')
  })

  test('a text that is no path element cannot be shown or ordered', () => {
    expect(() => describeElement('x:a')).toThrow('not a path element: x:a')
    expect(() => sortElements(['x:a', 'f:a'])).toThrow('not a path element: x:a')
  })

  test('control characters and HTML characters are printed by number, and a backslash stays single', () => {
    const values = ['\b\f', '<', '\u2028', '\\b', 'a"b']
    expect(values.map((value) => printElement({ kind: 'value', value }))).toEqual([
      'v:"\\u0008\\u000c"',
      'v:"\\u003c"',
      'v:"\\u2028"',
      'v:"\\\\b"',
      'v:"a\\"b"',
    ])
  })

  test('MF-06: fields are sorted by name, items by the names and values of their keys, values by type, indexes by number', () => {
    const ordered = [
      ...['f:a', 'f:b'],
      ...['k:{"a":1}', 'k:{"a":1,"b":0}', 'k:{"a":1,"b":3}', 'k:{"a":2}', 'k:{"a":10}', 'k:{"a":"x y"}', 'k:{"a":false}', 'k:{"a":true}'],
      ...['k:{"a":null}', 'k:{"b":0}', 'k:{"b":0,"c":1}'],
      ...['v:1', 'v:1.5', 'v:9', 'v:9007199254740993', 'v:9007199254740995', 'v:"a"', 'v:"a b"', 'v:"b"', 'v:false', 'v:true'],
      ...['i:0', 'i:2', 'i:10'],
    ]
    expect(sortElements(ordered.toReversed())).toEqual(ordered)
    for (let start = 0; start < ordered.length; start++) {
      expect(sortElements([...ordered.slice(start), ...ordered.slice(0, start)])).toEqual(ordered)
    }
  })

  test('texts are ordered by their bytes, beyond the basic plane too', () => {
    const ordered = ['a', '\uD7FF', '\uFF5E', '\u{1F600}', '\u{1F601}']
    for (const given of [ordered, ordered.toReversed()]) {
      expect(sortElements(given.map((text) => `f:${text}`))).toEqual(ordered.map((text) => `f:${text}`))
      expect(sortElements(given.map((text) => `v:"${text}"`))).toEqual(ordered.map((text) => `v:"${text}"`))
    }
  })

  test.each([
    ['few', 5],
    ['many', 60],
  ])('%s items are ordered by the value of their key, alone and beside items with another key', (_how, count) => {
    let state = 11
    const random = (bound: number) => {
      state = (state * 48271) % 2147483647
      return state % bound
    }
    const alphabets = ['ab-', 'aZ09_./:-', 'ab "\\<\u00e4\uff5e']
    for (let round = 0; round < 200; round++) {
      const letters = alphabets[round % alphabets.length] as string
      const aText = () => Array.from({ length: random(6) }, () => letters[random(letters.length)]).join('')
      const values = [...new Set(Array.from({ length: count }, aText))]
      const item = (name: string) => printElement({ kind: 'key', keys: { name } })
      const byBytes = values.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
      expect(sortElements(values.map(item))).toEqual(byBytes.map(item))
      const others = [printElement({ kind: 'key', keys: { id: 'b' } }), 'f:b']
      expect(sortElements([...values.map(item), ...others])).toEqual([...others.toReversed(), ...byBytes.map(item)])
    }
  })
})

describe('operations', () => {
  const left = set({ 'f:a': { '.': {}, 'f:b': {} }, 'f:c': {} })
  const right = set({ 'f:a': { 'f:b': {}, 'f:d': {} }, 'f:e': {} })

  test.each([
    ['union', union(left, right), ['.a', '.c', '.e', '.a.b', '.a.d']],
    ['difference', difference(left, right), ['.a', '.c']],
    ['intersection', intersection(left, right), ['.a.b']],
    ['recursive difference', recursiveDifference(left, set({ 'f:a': {} })), ['.c']],
    ['difference of a container keeps what is in it', difference(left, set({ 'f:a': {} })), ['.c', '.a.b']],
  ])('give the expected set: %s', (_name, result, paths) => {
    expect(describePaths(result).sort()).toEqual([...paths].sort())
  })

  test('an operation that changes nothing returns the same set', () => {
    expect(union(left, set({ 'f:c': {} }))).toBe(left)
    expect(difference(left, set({ 'f:x': {} }))).toBe(left)
    expect(difference(left, left)).toBe(emptySet)
    expect(union(emptySet, left)).toBe(left)
    expect(unionOfAll([left])).toBe(left)
    expect(intersection(left, left)).toBe(left)
    expect(difference(left, set({ 'f:a': { 'f:x': {} } }))).toBe(left)
  })

  test('a container that is itself a member distinguishes two sets', () => {
    expect(equalSets(set({ 'f:a': { '.': {}, 'f:b': {} } }), set({ 'f:a': { 'f:b': {} } }))).toBe(false)
    expect(equalSets(set({ 'f:a': { 'f:b': {} } }), set({ 'f:a': { 'f:b': {} } }))).toBe(true)
  })

  test('random sets obey the laws of sets', () => {
    let state = 7
    const random = (bound: number) => {
      state = (state * 48271) % 2147483647
      return state % bound
    }
    const randomSet = () =>
      setOfPaths(Array.from({ length: random(8) }, () => Array.from({ length: 1 + random(3) }, () => `f:${'abc'[random(3)]}`)))
    for (let round = 0; round < 500; round++) {
      const [a, b] = [randomSet(), randomSet()]
      expect(equalSets(union(a, b), union(b, a))).toBe(true)
      expect(equalSets(intersection(a, b), intersection(b, a))).toBe(true)
      expect(equalSets(union(difference(a, b), intersection(a, b)), a)).toBe(true)
      expect(equalSets(parseFieldSet(printFieldSet(a)) as FieldSet, a)).toBe(true)
    }
  })
})

test('the union of many sets at once equals their pairwise union', () => {
  const path = fc.array(fc.constantFrom('f:a', 'f:b', 'f:c', 'v:1'), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(fc.array(fc.array(path, { maxLength: 5 }), { maxLength: 6 }), (lists) => {
      const sets = lists.map((paths) => setOfPaths(paths))
      const oneByOne = sets.reduce((left, right) => union(left, right), emptySet)
      expect(equalSets(unionOfAll(sets), oneByOne)).toBe(true)
    }),
  )
})
