import { describe, expect, test } from 'vitest'
import { looseTypeName, printAsSource, printLoosely } from './go-text.ts'
import { Numeral } from './numeral.ts'

describe('values in messages', () => {
  const value = { b: ['x', 1, true], a: null, c: { d: {} } }

  test('are printed like Go prints them with %v, members in order', () => {
    expect(printLoosely(value)).toBe('map[a:<nil> b:[x 1 true] c:map[d:map[]]]')
  })

  test.each<[unknown, string]>([
    [
      { b: [1, 'x y', { z: 1e300, a: true }], a: { n: 0.00001, f: 3.5, e: {}, l: [] } },
      'map[a:map[e:map[] f:3.5 l:[] n:1e-05] b:[1 x y map[a:true z:1e+300]]]',
    ],
    [9007199254740993n, '9007199254740993'],
    [1234567.5, '1.2345675e+06'],
    [new Numeral('1.0', 1), '1'],
  ])('%o is printed like Go prints it: %s', (any, text) => {
    expect(printLoosely(any)).toBe(text)
  })

  test('are printed like Go source', () => {
    expect(printAsSource({ b: ['x', 1], a: null })).toBe('map[string]interface {}{"a":interface {}(nil), "b":[]interface {}{"x", 1}}')
  })

  test('are truncated beyond a depth', () => {
    const deep = JSON.parse('['.repeat(9000) + ']'.repeat(9000)) as unknown
    expect(printLoosely(deep)).toBe(`${'['.repeat(100)}...${']'.repeat(100)}`)
    expect(printAsSource(deep)).toContain('...')
    const members = JSON.parse(`${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`) as unknown
    expect(printLoosely(members)).toBe(`${'map[a:'.repeat(100)}...${']'.repeat(100)}`)
    expect(printAsSource(members)).toBe(`${'map[string]interface {}{"a":'.repeat(100)}...${'}'.repeat(100)}`)
  })

  test('are <nil> for an absent value', () => {
    expect(printLoosely(undefined)).toBe('<nil>')
    expect(printAsSource(undefined)).toBe('interface {}(nil)')
  })

  test.each<[unknown, string]>([
    [null, '<nil>'],
    [undefined, '<nil>'],
    [[1], '[]interface {}'],
    ['x', 'string'],
    [true, 'bool'],
    [1, 'int64'],
    [1.5, 'float64'],
    [1e300, 'float64'],
    [new Numeral('1.0', 1), 'float64'],
    [9007199254740993n, 'int64'],
    [{}, 'map[string]interface {}'],
  ])('%o is of type %s', (any, name) => {
    expect(looseTypeName(any)).toBe(name)
  })
})
