import { describe, expect, test } from 'vitest'
import { readTimeText, type TimeKind } from './go-time.ts'
import { printMicroTime, printTime } from './time.ts'

function outcome(kind: TimeKind, text: string): string {
  const reading = readTimeText(text, kind)
  if (reading.kind === 'malformed') return reading.problem
  return kind === 'time' ? printTime(reading.instant) : printMicroTime(reading.instant)
}

const layouts = { time: '2006-01-02T15:04:05Z07:00', microTime: '2006-01-02T15:04:05.000000Z07:00' }
const misfit = (kind: TimeKind, text: string, rest: string, element: string) =>
  `parsing time "${text}" as "${layouts[kind]}": cannot parse "${rest}" as "${element}"`

describe('a MicroTime', () => {
  test.each([
    ['2020-01-01T00:00:00.123456Z', '2020-01-01T00:00:00.123456Z'],
    ['2020-01-01T02:00:00.123456+02:00', '2020-01-01T00:00:00.123456Z'],
    ['2020-01-01T00:00:00,123456Z', '2020-01-01T00:00:00.123456Z'],
    ['2020-01-01T1:00:00.000000Z', '2020-01-01T01:00:00.000000Z'],
    ['2020-02-29T23:59:59.999999-00:30', '2020-03-01T00:29:59.999999Z'],
  ])('%s is parsed as %s', (text, expected) => {
    expect(outcome('microTime', text)).toBe(expected)
  })

  test.each([
    ['2020-01-01T00:00:00Z', 'Z', '.000000'],
    ['2020-01-01T00:00:00.278Z', '.278Z', '.000000'],
    ['2020-01-01T00:00:00.278000789Z', '789Z', 'Z07:00'],
    ['2020-01-01t00:00:00.123456z', 't00:00:00.123456z', 'T'],
    ['2020-01-01T00:00:00.123456z', 'z', 'Z07:00'],
    ['2020-01-01 00:00:00.123456Z', ' 00:00:00.123456Z', 'T'],
    ['2020-01-01', '', 'T'],
    ['2020-1-01T00:00:00.123456Z', '1-01T00:00:00.123456Z', '01'],
    ['', '', '2006'],
    ['now', 'now', '2006'],
    ['2020-01-01T00:00:00.123456', '', 'Z07:00'],
    ['2020-01-01T00:00:00.123456+0200', '+0200', 'Z07:00'],
  ])('%s is refused at %j', (text, rest, element) => {
    expect(outcome('microTime', text)).toBe(misfit('microTime', text, rest, element))
  })
})

describe('a Time', () => {
  test.each([
    ['2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z'],
    ['2020-01-01T1:00:00Z', '2020-01-01T01:00:00Z'],
    ['2020-01-01T00:00:00,5Z', '2020-01-01T00:00:00Z'],
    ['2020-01-01T00:00:00.1234567890123Z', '2020-01-01T00:00:00Z'],
    ['2020-01-01T00:00:00+24:60', '2019-12-30T23:00:00Z'],
  ])('%s is parsed as %s', (text, expected) => {
    expect(outcome('time', text)).toBe(expected)
  })

  test.each([
    ['2020-01-01T24:00:00Z', 'hour out of range'],
    ['2020-01-01T00:60:00Z', 'minute out of range'],
    ['2020-01-01T00:00:60Z', 'second out of range'],
    ['2020-13-01T00:00:00Z', 'month out of range'],
    ['2020-02-30T00:00:00Z', 'day out of range'],
    ['2021-02-29T00:00:00Z', 'day out of range'],
    ['2020-01-00T00:00:00Z', 'day out of range'],
    ['2020-01-01T00:00:00+25:00', 'time zone offset hour out of range'],
    ['2020-01-01T00:00:00Z+1', 'extra text: "+1"'],
    ['0000-01-01T00:00:00+01:00', 'year out of range'],
  ])('%s is refused: %s', (text, why) => {
    expect(outcome('time', text)).toBe(`parsing time "${text}": ${why}`)
  })

  test('is quoted like in Go', () => {
    expect(outcome('time', 'x'.repeat(100_000)).length).toBeLessThan(140_000)
    expect(outcome('time', 'é"\n')).toBe(misfit('time', '\\xc3\\xa9\\"\\x0a', '\\xc3\\xa9\\"\\x0a', '2006'))
  })
})
