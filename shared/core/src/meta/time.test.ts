import { fc } from '@orch/testkit/chance'
import { describe, expect, test } from 'vitest'
import { durationToMs, parseDuration, printDuration } from './duration.ts'
import { type Instant, parseInstant, printMicroTime, printTime, toInstant } from './time.ts'

function instant(text: string): Instant {
  const parsed = parseInstant(text)
  if (parsed === undefined) throw new Error(`not a time: ${text}`)
  return parsed
}

describe('META-20: times', () => {
  const rows: [text: string, time: string, micro: string][] = [
    ['2024-02-29T12:30:45Z', '2024-02-29T12:30:45Z', '2024-02-29T12:30:45.000000Z'],
    ['2024-02-29T12:30:45.999999999Z', '2024-02-29T12:30:45Z', '2024-02-29T12:30:45.999999Z'],
    ['2024-02-29T12:30:45,5Z', '2024-02-29T12:30:45Z', '2024-02-29T12:30:45.500000Z'],
    ['2024-01-01T00:30:00+01:00', '2023-12-31T23:30:00Z', '2023-12-31T23:30:00.000000Z'],
    ['2024-01-01T00:30:00.25-00:45', '2024-01-01T01:15:00Z', '2024-01-01T01:15:00.250000Z'],
    ['1969-12-31T23:59:59.5Z', '1969-12-31T23:59:59Z', '1969-12-31T23:59:59.500000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
  ]
  test.each(rows)('are printed in whole seconds and in microseconds: %s', (text, time, micro) => {
    expect(printTime(instant(text))).toBe(time)
    expect(printMicroTime(instant(text))).toBe(micro)
  })

  test.each([
    '',
    '2024-01-01',
    '2024-01-01T00:00:00',
    '2024-01-01 00:00:00Z',
    '2024-01-01t00:00:00z',
    '2023-02-29T00:00:00Z',
    '2024-04-31T00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:60:00Z',
    '2024-01-01T00:00:60Z',
    '2024-01-01T00:00:00+24:00',
    '2024-01-01T00:00:00.Z',
    '9999-12-31T23:59:59-00:01',
    '0000-01-01T00:00:00+00:01',
  ])('%s is not a valid time', (text) => {
    expect(parseInstant(text)).toBeUndefined()
  })

  test('are made from a clock', () => {
    expect(instant('2024-01-01T01:00:00+01:00')).toEqual(instant('2024-01-01T00:00:00Z'))
    expect(printMicroTime(toInstant(1_700_000_000_123))).toBe('2023-11-14T22:13:20.123000Z')
    expect(toInstant(-500)).toEqual(instant('1969-12-31T23:59:59.5Z'))
  })

  test('are printed and read back with the same text', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -62_000_000_000, max: 250_000_000_000 }),
        fc.integer({ min: 0, max: 999_999_999 }),
        (seconds, nanoseconds) => {
          expect(instant(printTime({ seconds, nanoseconds }))).toEqual({ seconds, nanoseconds: 0 })
          const micro = printMicroTime({ seconds, nanoseconds })
          expect(printMicroTime(instant(micro))).toBe(micro)
        },
      ),
    )
  })
})

describe('durations', () => {
  const rows: [text: string, printed: string, milliseconds: number][] = [
    ['0', '0s', 0],
    ['0s', '0s', 0],
    ['60s', '1m0s', 60_000],
    ['1h30m', '1h30m0s', 5_400_000],
    ['1.5h', '1h30m0s', 5_400_000],
    ['250ms', '250ms', 250],
    ['1500ms', '1.5s', 1500],
    ['-2m', '-2m0s', -120_000],
    ['+5s', '5s', 5000],
    ['.5s', '500ms', 500],
    ['5.s', '5s', 5000],
    ['1us', '1µs', 0.001],
    ['1500ns', '1.5µs', 0.0015],
    ['7ns', '7ns', 0.000007],
    ['100h0.001s', '100h0m0.001s', 360_000_001],
  ]
  test.each(rows)('are read and printed as in Go: %s', (text, printed, milliseconds) => {
    const duration = parseDuration(text)
    expect(duration !== undefined && [printDuration(duration), durationToMs(duration)]).toEqual([printed, milliseconds])
  })

  test.each(['', '1', '-', 's', '1d', '1h 30m', '1h30', '.s', '1e3s', '3000000h', '1s'.repeat(200)])(
    '%s is not a valid duration',
    (text) => {
      expect(parseDuration(text)).toBeUndefined()
    },
  )

  test('are printed and read back with the same span', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n - 1n), max: 2n ** 63n - 1n }), (duration) => {
        expect(parseDuration(printDuration(duration))).toBe(duration)
      }),
    )
  })
})
