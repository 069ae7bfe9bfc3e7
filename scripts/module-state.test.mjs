import { expect, test } from 'vitest'
import { checkMemoComments, checkModuleState, keptResultsPage } from './module-state.mjs'

const found = (text, list = {}) => checkModuleState([{ file: 'a.ts', text }], list)

test.each([
  ['a variable', 'let count = 0'],
  ['an exported variable', 'export let count = 0'],
  ['an empty map', 'const count = new Map<string, number>()'],
  ['an empty weak map', 'export const count = new WeakMap()'],
  ['an empty set', 'const count: Set<string> = new Set()'],
  ['a map that the file adds to', 'const count = new Map([[1, 2]])\nfunction f() { count.set(2, 3) }'],
  ['a list that the file adds to', 'const count = [1]\nconst f = () => count.push(2)'],
  ['a list with a member that the file sets', 'const count = [1]\nfunction f() { count[0] = 2 }'],
  ['an object with a member that the file sets', 'const count = { n: 1 }\nfunction f() { count.n += 2 }'],
  ['an object with a member that the file deletes', 'const count = { n: 1 }\nfunction f() { delete count.n }'],
])('%s of a module is found', (_, text) => {
  expect(found(text)).toEqual([expect.stringMatching(/^a\.ts:1: count is changed by the module/)])
})

test.each([
  ['a constant map', 'const names = new Map([[1, 2]])\nfunction f() { return names.get(1) }'],
  ['a constant list', 'export const names = [1, 2]'],
  ['a map of a function', 'function f() { const names = new Map(); names.set(1, 2); let n = 0; return n }'],
  ['a member of a class', 'class A { #names = new Map(); add() { this.#names.set(1, 2) } }'],
  ['a map that is empty and stays so', 'const names: ReadonlyMap<string, number> = new Map()'],
  ['a memo', 'const f = memo((a) => [a])'],
])('%s is no state of the module', (_, text) => {
  expect(found(text)).toEqual([])
})

test('a listed value may be changed, and an entry of the list without a value is a violation', () => {
  const text = 'let count = 0'
  expect(found(text, { 'a.ts': { count: 'a reason' } })).toEqual([])
  expect(found(text, { 'a.ts': { count: 'a reason', other: 'a reason' } })).toEqual([
    'scripts/module-state.mjs lists other in a.ts, which changes no such value',
  ])
})

test('the page lists memos with their bounds and the first sentence of their comments, and other values', () => {
  const text = [
    '/** The size of a thing: it is slow. */\nexport const sizeOf = memo((thing: Thing) => thing.size)',
    '/**\n * The pattern of a text.\n * It is slow too.\n */\nconst patternOf: Of = boundedMemo(max, (text) => text)\nconst max = 12',
  ].join('\n\n')
  const page = keptResultsPage([{ file: 'a.ts', text }], { 'b.ts': { last: 'the last one' } })
  expect(page).toContain('2 pure functions')
  expect(page).toContain('| `sizeOf` | `a.ts` | as long as its argument | The size of a thing. |')
  expect(page).toContain('| `patternOf` | `a.ts` | at most 12 | The pattern of a text. |')
  expect(page).toContain('| `last` | `b.ts` | the last one |')
})

test('a memo without a comment is a violation', () => {
  expect(checkMemoComments([{ file: 'a.ts', text: 'const sizeOf = memo((thing) => thing.size)' }])).toEqual([
    'a.ts: sizeOf keeps results and has no comment that says what they are',
  ])
})
