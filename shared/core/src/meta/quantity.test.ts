import { fc } from '@orch/testkit/chance'
import { describe, expect, test } from 'vitest'
import {
  addQuantities,
  compareQuantities,
  isWholeQuantity,
  parseQuantity,
  printQuantity,
  type Quantity,
  quantitySign,
  readQuantity,
  roundUpQuantity,
  subtractQuantities,
  toQuantity,
} from './quantity.ts'

function quantity(text: string): Quantity {
  const parsed = parseQuantity(text)
  if (parsed === undefined) throw new Error(`not a quantity: ${text}`)
  return parsed
}

describe('the canonical text', () => {
  const rows: [text: string, canonical: string][] = [
    ['0', '0'],
    ['0Ki', '0'],
    ['-0', '0'],
    ['m', '0'],
    ['.5', '500m'],
    ['5.', '5.'],
    ['1.5', '1500m'],
    ['1000m', '1'],
    ['1000M', '1G'],
    ['1024Mi', '1Gi'],
    ['0.5Gi', '512Mi'],
    ['1.5Ki', '1536'],
    ['0.1Ki', '102400m'],
    ['1e3', '1e3'],
    ['1E3', '1E3'],
    ['1e4', '10e3'],
    ['12e6', '12e6'],
    ['1.2e3', '1200'],
    ['1e19', '10e18'],
    ['1E', '1E'],
    ['0.1n', '1n'],
    ['1.5n', '2n'],
    ['-0.1n', '-1n'],
    ['8Ei', '9223372036854775807'],
    ['-9Ei', '-9223372036854775807'],
    ['9223372036854775808', '9223372036854775808'],
    ['5.444T', '5.444T'],
    ['40.1T', '40100G'],
    ['0.000000000001Ki', '2n'],
    ['-1.025Ti', '-1126999418470400m'],
  ]
  test.each(rows)('%s is printed as %s', (text, canonical) => {
    expect(printQuantity(quantity(text))).toBe(canonical)
  })
})

describe('invalid quantities', () => {
  const format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
  const suffix = "unable to parse quantity's suffix"
  const number = 'unable to parse numeric part of quantity'
  const rows: [value: unknown, message: string][] = [
    ['', format],
    ['abc', format],
    ['1.2.3', format],
    ['1 Mi', format],
    ['NaN', format],
    ['1e3m', format],
    [true, format],
    [{}, format],
    ['1K', suffix],
    ['1ki', suffix],
    ['1e', suffix],
    ['--1', suffix],
    ['1Gi1', suffix],
    ['1e999999999', number],
    ['9'.repeat(5000), number],
  ]
  test.each(rows)('are refused: %o', (value, message) => {
    expect(readQuantity(value)).toEqual({ kind: 'malformed', message })
  })
})

test.each([
  [null, '0'],
  [1000, '1k'],
  [1.5, '1500m'],
  [' 5 ', '5'],
  [12345678901234567890n, '12345678901234567890'],
])('the JSON value %o is read as %s', (value, canonical) => {
  const reading = readQuantity(value)
  expect(reading.kind === 'quantity' && printQuantity(reading.quantity)).toBe(canonical)
})

test('sums and differences are exact and keep the format of the left operand', () => {
  expect(printQuantity(addQuantities(quantity('1Mi'), quantity('1Gi')))).toBe('1025Mi')
  expect(printQuantity(addQuantities(quantity('0'), quantity('1Gi')))).toBe('1Gi')
  expect(printQuantity(subtractQuantities(quantity('50m'), quantity('10000T')))).toBe('-9999999999999999950m')
  expect(printQuantity(subtractQuantities(quantity('1Mi'), quantity('1M')))).toBe('48576')
})

test('comparison is by value, not by format', () => {
  expect(compareQuantities(quantity('1024Mi'), quantity('1Gi'))).toBe(0)
  expect(compareQuantities(quantity('999m'), quantity('1'))).toBe(-1)
  expect(compareQuantities(quantity('1e3'), quantity('999'))).toBe(1)
})

test('quantities have a sign, a whole value, and are rounded away from zero', () => {
  expect([quantitySign(quantity('-1m')), quantitySign(quantity('0')), quantitySign(quantity('1n'))]).toEqual([-1, 0, 1])
  expect([isWholeQuantity(quantity('1500m')), isWholeQuantity(quantity('2000m'))]).toEqual([false, true])
  expect([roundUpQuantity(quantity('1500m')), roundUpQuantity(quantity('-1500m')), roundUpQuantity(quantity('1.0001'), -3)]).toEqual([
    2n,
    -2n,
    1001n,
  ])
})

test('a printed amount is read back and printed the same', () => {
  const formats = fc.constantFrom('BinarySI' as const, 'DecimalSI' as const, 'DecimalExponent' as const)
  const amounts = fc.record({
    mantissa: fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }),
    exponent: fc.integer({ min: -9, max: 0 }),
    format: formats,
  })
  fc.assert(
    fc.property(amounts, (amount) => {
      const printed = printQuantity(amount)
      const read = quantity(printed)
      expect(compareQuantities(read, amount)).toBe(0)
      expect(printQuantity(read)).toBe(printed)
    }),
  )
})

test('adding and subtracting the same amount gives the amount back', () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.bigInt(), (a, b) => {
      expect(compareQuantities(subtractQuantities(addQuantities(toQuantity(a), toQuantity(b)), toQuantity(b)), toQuantity(a))).toBe(0)
    }),
  )
})

test('any text is parsed or refused, without a crash', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.+-eEinumkKMGTPx ') }), (text) => {
      expect(['quantity', 'malformed']).toContain(readQuantity(text).kind)
    }),
  )
})

test('an invalid quantity of a million digits is refused as fast as it is parsed', () => {
  const digits = '1'.repeat(1_000_000)
  for (const text of [`${digits}!`, `${digits}.${digits}!`, `${digits}E${digits}!`, digits])
    expect(readQuantity(text).kind).toBe('malformed')
})
