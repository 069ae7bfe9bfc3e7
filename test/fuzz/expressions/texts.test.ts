import { seed } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { compileTexts } from './texts.ts'

test(`any text is compiled or refused (5,000 of seed ${seed})`, () => {
  const { compiled, faults } = compileTexts({ seed, count: 5_000 })
  expect(faults).toEqual([])
  expect(compiled).toBeGreaterThan(300)
})
