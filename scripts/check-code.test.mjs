import { describe, expect, test } from 'vitest'
import { checkCode, countCode, isProduct } from './check-code.mjs'

const bounds = { lines: 5, functionLines: 3, casts: 0, claims: 0, parameters: 0, doubles: 0 }
const file = 'services/gateway/src/a.ts'
const check = (text, name = file) => checkCode([{ file: name, text }], bounds)

describe('a file', () => {
  test('with more lines than allowed is a violation', () => {
    expect(check('const a = 1\n'.repeat(5))).toEqual([])
    expect(check('const a = 1\n'.repeat(6))).toEqual([`${file}: 6 lines; at most 5 are allowed outside data: split it by role`])
  })

  test('of data may have any number of lines', () => {
    expect(check('const a = 1\n'.repeat(6), 'shared/core/src/api/core-v1.ts')).toEqual([])
    expect(check('const a = 1\n'.repeat(6), 'shared/core/src/rbac/policy.ts')).toEqual([])
  })

  test.each([
    ['services/orch/src/main.ts', true],
    ['shared/core/src/meta/time.ts', true],
    ['shared/core/src/meta/time.test.ts', false],
    ['shared/testkit/src/builders.ts', false],
    ['test/api/list.test.ts', false],
    ['scripts/run.mjs', false],
  ])('%s counts as product code: %s', (name, expected) => {
    expect(isProduct(name)).toBe(expected)
  })
})

test('a function with more lines than allowed is a violation, unless it is data', () => {
  const text = (lines) => `const a = () => {\n${'b()\n'.repeat(lines - 2)}}`
  expect(check(text(3))).toEqual([])
  expect(check(text(4))).toEqual([`${file}:1: a function of 4 lines; at most 3 are allowed outside data`])
  expect(check(text(4), 'shared/core/src/api/core-v1.ts')).toEqual([])
})

test('non-null assertions beyond the bound are a violation that lists them', () => {
  expect(check('const a = !b && c !== d')).toEqual([])
  expect(check('const a = b[0]!')).toEqual([
    `1 claims by ! that a value is there; check it, or take \`at(list, index)\`; at most 0 are allowed:\n  ${file}:1: b[0]!`,
  ])
})

test('casts to never in tests beyond the bound are a violation that lists them', () => {
  const tests = [
    { file: 'test/a.test.ts', text: "test('a thing as never before', () => {\n  take({ b } as never)\n})" },
    { file: 'test/b.test.ts', text: 'take({ b } as Thing)' },
  ]
  expect(checkCode([], { tests, ...bounds })).toEqual([
    '1 values that tests force into a type by `as never`; take a builder of the full type; at most 0 are allowed:\n  test/a.test.ts:2: { b } as never',
  ])
})

describe('casts', () => {
  test.each([
    ['const a = b as string', 1],
    ['const a = b as unknown as string', 1],
    ['const a = (b as string[])[0] as string', 2],
    ["const a = ['x'] as const", 0],
    ['const a = { b } satisfies object', 0],
    ["import { b as a } from './b.ts'", 0],
  ])('%s counts as %i', (text, count) => {
    expect(countCode([{ file, text }]).casts).toHaveLength(count)
  })

  test('a call of a function that only casts counts as a cast, in its own file and where it is imported', () => {
    const helper = { file, text: 'export const specOf = (a: unknown): Spec => (a ?? {}) as Spec\nspecOf(1)' }
    const other = { file: 'services/gateway/src/b/b.ts', text: "import { specOf as spec } from '../a.ts'\nspec(2)" }
    const namesake = { file: 'services/gateway/src/c.ts', text: 'function specOf(a: Spec) { return a.b }\nspecOf(3)' }
    expect(countCode([helper, other, namesake]).casts.map(({ line, text }) => `${line} ${text}`)).toEqual([
      '1 (a ?? {}) as Spec',
      '2 specOf(1)',
      '2 spec(2)',
    ])
  })

  test('beyond the bound are a violation that lists them', () => {
    expect(check('\nconst a = b as string')).toEqual([
      `1 casts, and calls of functions that do nothing else; at most 0 are allowed:\n  ${file}:2: b as string`,
    ])
  })
})

test('functions with many positional parameters beyond the bound are a violation that lists them', () => {
  expect(check('function a(b, c, d, e) {}')).toEqual([])
  expect(check('const a = (b, c, d, e, f) => {}')).toEqual([
    `1 functions with 5 or more parameters by position; take an object; at most 0 are allowed:\n  ${file}:1: (b, c, d, e, f) => {}`,
  ])
})
