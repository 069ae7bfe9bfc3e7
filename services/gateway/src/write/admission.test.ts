import { describe, expect, test } from 'vitest'
import { joinConditions } from './admission.ts'
import type { Condition } from './draft.ts'

const conditions = (...all: [key: string, revision: number][]): Condition[] => all.map(([key, revision]) => ({ key, revision }))

describe('conditions of two phases', () => {
  test.each<[string, Condition[], Condition[], Condition[]]>([
    ['the same one counts once', conditions(['a', 1], ['b', 2]), conditions(['b', 2]), conditions(['a', 1], ['b', 2])],
    ['another key is another one', conditions(['a', 1]), conditions(['b', 1]), conditions(['a', 1], ['b', 1])],
    ['another revision is another one', conditions(['a', 1]), conditions(['a', 2]), conditions(['a', 1], ['a', 2])],
  ])('%s', (_which, first, second, joined) => {
    expect(joinConditions(first, second)).toEqual(joined)
  })
})
