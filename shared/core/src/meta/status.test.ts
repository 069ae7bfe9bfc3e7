import { expect, test } from 'vitest'
import { invalid } from './status.ts'

test('LIM-12: the refusal of an object with long errors lists only the first errors', () => {
  const errors = Array.from({ length: 1_000 }, (_, index) => {
    return { reason: 'FieldValueInvalid', field: `spec[${index}]`, message: 'x'.repeat(900_000) } as const
  })
  const { message, details } = invalid({ group: '', kind: 'Thing' }, 'a', errors).status
  expect(details?.causes).toHaveLength(16)
  expect(message?.length).toBeLessThan(1_100_000)
})
