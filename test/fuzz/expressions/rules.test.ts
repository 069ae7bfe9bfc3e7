import { seed } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { compareRules } from './rules.ts'

/** `npm run fuzz -- expressions` draws any number of texts. */
const count = 150

test(`CEL-53: rules of ${count} schemas from seed ${seed} have the same value and cost by closures over views and by a tree walk`, () => {
  const { evaluated, valued, differences } = compareRules({ seed, count })
  expect(differences).toEqual([])
  // Most rules give a value; not all end in the same error.
  expect(valued).toBeGreaterThan(evaluated / 3)
})
