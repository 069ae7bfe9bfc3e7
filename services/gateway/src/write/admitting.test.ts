import { describe, expect, test } from 'vitest'
import type { Admitted } from '../admission/admitter.ts'
import { both } from './admitting.ts'

const admitted = (...conditions: [key: string, revision: number][]): Admitted => ({
  object: undefined,
  conditions: conditions.map(([key, revision]) => ({ key, revision })),
  reservations: [],
})

describe('conditions of two phases', () => {
  test.each<[string, Admitted, Admitted, Admitted['conditions']]>([
    ['the same one counts once', admitted(['a', 1], ['b', 2]), admitted(['b', 2]), admitted(['a', 1], ['b', 2]).conditions],
    ['another key is another one', admitted(['a', 1]), admitted(['b', 1]), admitted(['a', 1], ['b', 1]).conditions],
    ['another revision is another one', admitted(['a', 1]), admitted(['a', 2]), admitted(['a', 1], ['a', 2]).conditions],
  ])('%s', (_which, first, second, conditions) => {
    expect(both(first, second).conditions).toEqual(conditions)
  })
})
