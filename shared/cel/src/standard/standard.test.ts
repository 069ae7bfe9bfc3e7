import { expect, test } from 'vitest'
import { printType } from '../types.ts'
import { standardLibrary } from './index.ts'

test('every overload has a unique id', () => {
  const ids = Object.values(standardLibrary.functions).flatMap((overloads) => overloads.map(({ id }) => id))
  expect(new Set(ids).size).toBe(ids.length)
})

test('types are printed like in cel-go', () => {
  expect(Object.values(standardLibrary.types ?? {}).map(printType)).toContain('map(A, B)')
})
