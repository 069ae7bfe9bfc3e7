import { expect, test } from 'vitest'
import { printType } from '../types.ts'
import { standardLibrary } from './index.ts'

test('every overload has an id of its own', () => {
  const ids = standardLibrary.functions.flatMap(({ overloads }) => overloads.map(({ id }) => id))
  expect(new Set(ids).size).toBe(ids.length)
})

test('types print as cel-go prints them', () => {
  expect(Object.values(standardLibrary.types ?? {}).map(printType)).toContain('map(A, B)')
})
