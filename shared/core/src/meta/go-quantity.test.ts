import { expect, test } from 'vitest'
import { goQuantity } from './go-quantity.ts'

const nothing = '(*inf.Dec)(nil)'

test.each([
  ['0', 0, 0, nothing, '0', 'DecimalSI'],
  ['1', 1, 0, nothing, '1', 'DecimalSI'],
  ['-100m', -100, -3, nothing, '-100m', 'DecimalSI'],
  ['1.5', 15, -1, nothing, '', 'DecimalSI'],
  ['1000M', 1000, 6, nothing, '', 'DecimalSI'],
  ['2e3', 2, 3, nothing, '2e3', 'DecimalExponent'],
  ['1Gi', 1073741824, 0, nothing, '1Gi', 'BinarySI'],
  ['512Mi', 536870912, 0, nothing, '', 'BinarySI'],
  ['1.5Gi', 0, 0, '(*inf.Dec)(0xc000000000)', '', 'BinarySI'],
  ['1234567890123456789', 0, 0, '(*inf.Dec)(0xc000000000)', '', 'DecimalSI'],
])('the Go quantity %s has the expected text', (text, value, scale, decimal, kept, format) => {
  expect(goQuantity(text)).toBe(
    `resource.Quantity{i:resource.int64Amount{value:${value}, scale:${scale}}, d:resource.infDecAmount{Dec:${decimal}}, s:"${kept}", Format:"${format}"}`,
  )
})
