import { expect, test } from 'vitest'
import { limitsOf } from './limit-range.ts'

test.each([{ limits: null }, { limits: [] }])('a LimitRange whose spec is %j limits nothing', (spec) => {
  expect(limitsOf(spec)).toEqual([])
})
