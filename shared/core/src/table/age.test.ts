import { expect, test } from 'vitest'
import { printAge } from './age.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const year = 365 * day

test.each([
  [-2000, '<invalid>'],
  [-1999, '0s'],
  [0, '0s'],
  [119 * second + 999, '119s'],
  [2 * minute, '2m'],
  [2 * minute + 5 * second, '2m5s'],
  [10 * minute - second, '9m59s'],
  [10 * minute + 59 * second, '10m'],
  [3 * hour - second, '179m'],
  [3 * hour, '3h'],
  [7 * hour + 59 * minute, '7h59m'],
  [8 * hour + 59 * minute, '8h'],
  [48 * hour - second, '47h'],
  [2 * day, '2d'],
  [2 * day + 4 * hour, '2d4h'],
  [8 * day - second, '7d23h'],
  [8 * day + 5 * hour, '8d'],
  [2 * year - second, '729d'],
  [2 * year, '2y'],
  [2 * year + 3 * day, '2y3d'],
  [8 * year - second, '7y364d'],
  [8 * year + 100 * day, '8y'],
])('TABLE-06: a duration of %i ms is printed as %s', (spanMs, text) => {
  expect(printAge(spanMs)).toBe(text)
})
