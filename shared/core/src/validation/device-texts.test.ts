import { expect, test } from 'vitest'
import { validateDeclaredPoolName, validatePoolName } from './device-texts.ts'

test('LIM-12: the name of a pool with many wrong parts has about a hundred errors', () => {
  expect(validateDeclaredPoolName('/'.repeat(1_000), 'pool')).toHaveLength(101)
  const parts = Array.from({ length: 1_000 }, (_, index) => `_${index}`).join('/')
  expect(validatePoolName(parts, 'pool').length).toBeLessThan(110)
})
