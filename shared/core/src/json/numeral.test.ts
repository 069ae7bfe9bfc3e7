import { describe, expect, test } from 'vitest'
import { jsonEqual } from './equal.ts'
import { cannotUnmarshal } from './go-errors.ts'
import { isJsonObject } from './member.ts'
import { Numeral } from './numeral.ts'
import { printJson } from './print.ts'
import { decodeJson } from './scan.ts'

const read = (text: string) => decodeJson(text, { keepsNumerals: true })

describe('numbers with a preserved spelling', () => {
  const rows: [text: string, literals: readonly string[]][] = [
    ['[1,-1,0,-0,9007199254740993,-9223372036854775808]', []],
    ['[0.5,1.25,-0.125]', []],
    ['[1.0,1e0,10e-1,-0.0,1E2]', ['1.0', '1e0', '10e-1', '-0.0', '1E2']],
    ['[9223372036854775808,99999999999999999999]', ['9223372036854775808', '99999999999999999999']],
    ['[1e400]', ['1e400']],
    ['{"a":{"b":[{"c":1.0}]},"d":"1.0"}', ['1.0']],
  ]
  test.each(rows)('of %s keep their text', (text, literals) => {
    const decoded = read(text)
    expect(decoded).toMatchObject({ kind: 'json', hasNumerals: literals.length > 0 })
    if (decoded.kind !== 'json') return
    expect(numeralsIn(decoded.value)).toEqual(literals)
    if (!text.includes('0.125')) expect(printJson(decoded.value, { hasBigIntegers: true })).toBe(text.replace('-0,', '0,'))
  })

  test('are plain numbers unless the caller asks for the spelling', () => {
    expect(decodeJson('[1.0,1e2]')).toMatchObject({ value: [1, 100], hasNumerals: false })
    expect(decodeJson('[1e400]')).toMatchObject({ kind: 'malformed', isNumberTooLarge: true })
  })

  test('are printed as numbers in messages, and compared by their text', () => {
    const numeral = new Numeral('1.0', 1)
    expect(isJsonObject(numeral)).toBe(false)
    expect(cannotUnmarshal(numeral, 'string')).toBe('json: cannot unmarshal number into Go value of type string')
    expect([jsonEqual(numeral, new Numeral('1.0', 1)), jsonEqual(numeral, 1), jsonEqual(numeral, new Numeral('1e0', 1))]).toEqual([
      true,
      false,
      false,
    ])
    expect(JSON.stringify([numeral])).toBe('[1]')
  })
})

function numeralsIn(value: unknown): string[] {
  if (value instanceof Numeral) return [value.literal]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numeralsIn) : []
}
