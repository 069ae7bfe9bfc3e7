import { expect, test } from 'vitest'
import { expandReferences } from './pod-sources.ts'

const lookUp = (name: string) => ({ A: 'a' })[name]

test.each([
  ['$(A)$(B)$$(A)$$', 'a$(B)$(A)$'],
  ['$(A', '$(A'],
  ['$$$(A)$', '$a$'],
  ['($$$', '($$'],
])('the references of %s expand to %s', (text, expected) => {
  expect(expandReferences(text, lookUp)).toBe(expected)
})

test('LIM-12: a million references without an end are read in linear time', () => {
  const text = '$('.repeat(1_000_000)
  expect(expandReferences(text, lookUp)).toBe(text)
})
