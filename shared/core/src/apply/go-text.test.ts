import { describe, expect, test } from 'vitest'
import { printAsSource, printLoosely } from './go-text.ts'

describe('values in messages', () => {
  const value = { b: ['x', 1, true], a: null, c: { d: {} } }

  test('are shown loosely, their members in order', () => {
    expect(printLoosely(value)).toBe('map[a:<nil> b:[x 1 true] c:map[d:map[]]]')
  })

  test('are shown as in a program', () => {
    expect(printAsSource({ b: ['x', 1], a: null })).toBe('map[string]interface {}{"a":interface {}(nil), "b":[]interface {}{"x", 1}}')
  })

  test('are cut where they go deep', () => {
    const deep = JSON.parse('['.repeat(9000) + ']'.repeat(9000)) as unknown
    expect(printLoosely(deep)).toBe(`${'['.repeat(100)}...${']'.repeat(100)}`)
    expect(printAsSource(deep)).toContain('...')
  })
})
