import { expect, test } from 'vitest'
import { freezeDeeply } from '../json/freeze.ts'
import { child, children, type Draft, ensureChild, fill } from './draft.ts'

test('a part shared with another object is copied before it is completed, and the other object is not changed', () => {
  const other = freezeDeeply({ spec: { list: [{ a: 1 }, 'text', { a: 2 }], map: { x: {} } } })
  const draft: Draft = { ...other }
  for (const item of children(child(draft, 'spec'), 'list')) if (typeof item === 'object') fill(item, { b: 3 })
  fill(child(child(child(draft, 'spec'), 'map'), 'x'), { y: 4 })
  expect(draft).toEqual({ spec: { list: [{ a: 1, b: 3 }, 'text', { a: 2, b: 3 }], map: { x: { y: 4 } } } })
  expect(other).toEqual({ spec: { list: [{ a: 1 }, 'text', { a: 2 }], map: { x: {} } } })
})

test('a part that only the draft has is completed in place', () => {
  const own = { a: 1 }
  const draft: Draft = { own, list: [own] }
  expect(child(draft, 'own')).toBe(own)
  expect(children(draft, 'list')[0]).toBe(own)
  expect(ensureChild(draft, 'own')).toBe(own)
  expect([child(draft, 'list'), child(undefined, 'own'), children(draft, 'own'), children(draft, 'none')]).toEqual([
    undefined,
    undefined,
    [],
    [],
  ])
})
