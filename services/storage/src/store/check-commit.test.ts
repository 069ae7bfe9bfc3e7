import type { StoreCommit } from '@orch/core/contracts'
import { expect, test } from 'vitest'
import { checkCommit } from './log-store.ts'

const revisions: Readonly<Record<string, number>> = { a: 5, b: 7 }
const outcomeOf = (commit: Partial<StoreCommit>) =>
  checkCommit({ key: 'a', expected: 5, conditions: [], writeId: 'w', value: new Uint8Array(1), ...commit }, (key) => revisions[key] ?? 0)

test.each<[string, Partial<StoreCommit>, ReturnType<typeof outcomeOf>]>([
  ['an update of what is expected', {}, undefined],
  ['a delete of what is expected', { value: undefined }, undefined],
  ['a create of what is absent', { key: 'c', expected: 0 }, undefined],
  ['an update of an older state', { expected: 4 }, { kind: 'stale' }],
  ['an update of what is absent', { key: 'c' }, { kind: 'stale' }],
  ['a create of what is there', { expected: 0 }, { kind: 'stale' }],
  ['a delete of what is absent', { key: 'c', expected: 0, value: undefined }, { kind: 'stale' }],
  ['one that is late', { isLate: () => true }, { kind: 'late' }],
  ['one that is late and stale', { expected: 4, isLate: () => true }, { kind: 'late' }],
  ['one that is not late', { isLate: () => false }, undefined],
])('STORE-05: a commit is checked: %s', (_what, commit, outcome) => {
  expect(outcomeOf(commit)).toEqual(outcome)
})

test('STORE-05: each condition of a commit must hold, and the first failed condition is named', () => {
  const holds = { key: 'b', revision: 7 }
  const isAbsent = { key: 'c', revision: 0 }
  const fails = { key: 'b', revision: 6 }
  expect(outcomeOf({ conditions: [holds, isAbsent] })).toBeUndefined()
  expect(outcomeOf({ conditions: [fails, holds] })).toEqual({ kind: 'unmet', index: 0 })
  expect(outcomeOf({ conditions: [holds, fails, fails] })).toEqual({ kind: 'unmet', index: 1 })
  expect(outcomeOf({ conditions: [{ ...isAbsent, revision: 1 }] })).toEqual({ kind: 'unmet', index: 0 })
  expect(outcomeOf({ expected: 4, conditions: [fails] })).toEqual({ kind: 'stale' })
  expect(outcomeOf({ key: 'c', expected: 0, value: undefined, conditions: [fails] })).toEqual({ kind: 'unmet', index: 0 })
})
