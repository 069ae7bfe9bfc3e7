import { fc } from '@orch/testkit/chance'
import { describe, expect, test } from 'vitest'
import { applyMergePatch } from './merge-patch.ts'

describe('PATCH: merge patch', () => {
  const rows: [document: unknown, patch: unknown, value: unknown][] = [
    [{ a: 1 }, {}, { a: 1 }],
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: 1 }, { b: null }, { a: 1 }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{ a: { b: 1, c: { d: 2 } } }, { a: { c: { d: null, e: 3 } } }, { a: { b: 1, c: { e: 3 } } }],
    [{ a: [1] }, { a: { b: 1 } }, { a: { b: 1 } }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{ a: [{ b: null }] }, { a: [{ c: null }] }, { a: [{ c: null }] }],
  ]
  test.each(rows)('changes %j by %j', (document, patch, value) => {
    const before = JSON.stringify([document, patch])
    expect(applyMergePatch(document, patch)).toEqual({ kind: 'patched', value })
    expect(JSON.stringify([document, patch])).toBe(before)
  })

  test.each([
    [[], 'array'],
    ['x', 'string'],
    [1, 'number'],
  ])('a patch that is %j is a 400', (patch, word) => {
    const outcome = applyMergePatch({}, patch)
    expect(outcome.kind === 'refused' && [outcome.error.code, outcome.error.message]).toEqual([
      400,
      `error decoding patch: json: cannot unmarshal ${word} into Go value of type map[string]interface {}`,
    ])
  })

  test('a patch that is null is a 400', () => {
    const outcome = applyMergePatch({}, null)
    expect(outcome.kind === 'refused' && [outcome.error.code, outcome.error.message]).toEqual([400, 'Invalid JSON Patch'])
  })

  test('names of JavaScript properties are plain data', () => {
    const outcome = applyMergePatch(JSON.parse('{"constructor":{"a":1}}'), JSON.parse('{"__proto__":{"x":1},"toString":{"y":null}}'))
    expect(outcome.kind === 'patched' && JSON.stringify(outcome.value)).toBe('{"constructor":{"a":1},"__proto__":{"x":1},"toString":{}}')
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })

  test('a patch may be as deep as a body', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(9_999)}1${'}'.repeat(9_999)}`) as unknown
    expect(applyMergePatch(deep, deep).kind).toBe('patched')
  })
})

test('applying a patch twice gives the same result as once', () => {
  const value = fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), fc.jsonValue({ maxDepth: 3 }))
  fc.assert(
    fc.property(value, value, (document, patch) => {
      const once = applyMergePatch(document, patch)
      expect(once.kind === 'patched' && applyMergePatch(once.value, patch)).toEqual(once)
    }),
  )
})
