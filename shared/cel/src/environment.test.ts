import { expect, test } from 'vitest'
import { Environment } from './environment.ts'
import { kubernetesLibraries } from './kubernetes/index.ts'
import { compileTexts } from './testing/texts.ts'
import { types } from './types.ts'

const seed = Number(process.env['TEST_SEED'] ?? 1)

test(`any text is compiled or refused (5,000 of seed ${seed})`, () => {
  const { compiled, faults } = compileTexts({ seed, count: 5_000 })
  expect(faults).toEqual([])
  expect(compiled).toBeGreaterThan(300)
})

test('an environment that extends another has its libraries and other variables', () => {
  const extended = new Environment({ libraries: kubernetesLibraries, variables: { n: types.int } }).extend({
    variables: { y: types.string },
  })
  expect(extended.compile('ip(y).family() == 4').kind).toBe('compiled')
  expect(extended.compile('n == 4').kind).toBe('invalid')
})
