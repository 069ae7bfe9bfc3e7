import { RE2JS } from 're2js'
import { describe, expect, test, vi } from 'vitest'
import { add, divide, modulo, multiply, negate, subtract } from './arithmetic.ts'
import { CelMap, mapKeys, mapSize } from './collections.ts'
import { convertToDuration, convertToInt, convertToString, convertToTimestamp, printDouble } from './convert.ts'
import { compare, equal } from './equal.ts'
import { Meter, unlimitedMeter, WorkExceeded, workMax } from './meter.ts'
import { compileRegex, type Regex } from './regex.ts'
import { compareTexts, countCodePoints } from './text.ts'
import { inZone, parseDuration, parseTimestamp, printDuration, printTimestamp } from './time.ts'
import { CelError, Double, kindOf, Timestamp, toDouble, Uint } from './values.ts'

const int64Max = 2n ** 63n - 1n

function regexOf(pattern: string): Regex {
  const regex = compileRegex(pattern)
  if (regex instanceof CelError) throw regex
  return regex
}

test('the properties of a large object are listed once for an evaluation', () => {
  let listed = 0
  const large = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, index]))
  const object = new Proxy(large, {
    ownKeys(target) {
      listed += 1
      return Reflect.ownKeys(target)
    },
  })
  const meter = unlimitedMeter()
  for (let count = 0; count < 5; count += 1) expect([...mapKeys(meter, object), ...mapKeys(meter, {})]).toHaveLength(mapSize(meter, object))
  expect(listed).toBe(1)
})

test('CEL-02: a pattern of more than 32,768 characters is refused, since its compilation would take long', () => {
  expect(compileRegex('a'.repeat(32_769))).toMatchObject({ message: 'error parsing regexp: expression too large' })
  expect(compileRegex('a'.repeat(32_768))).not.toBeInstanceOf(CelError)
})

test.each([
  ['counts', 'a{1000}'.repeat(33)],
  ['escapes and classes', '\\d{900}[\\]{x}a]{100}'.repeat(33)],
  ['names of classes and characters', '\\pL{1000}\\p{Greek}{1000}\\x{41}{1000}'.repeat(11)],
  ['classes of Unicode, which have hundreds of ranges', '\\PL'.repeat(990)],
  ['classes of Unicode in classes, in repeats', '[a\\pL\\pN]{600}'],
  ['groups', `(?:${'ab{9}'.repeat(66)}){50,}`],
  ['groups in groups', '(?:(?:a{10}b){10}){10}'.repeat(32)],
])('CEL-02: a pattern whose repeats are longer is refused: %s', (_what, pattern) => {
  expect(compileRegex(pattern)).toMatchObject({ message: 'error parsing regexp: expression too large' })
})

test('CEL-02: a pattern of 262 instructions matches ten thousand names, since an automaton reads each character once', () => {
  const label = '([a-z0-9]|[a-z0-9][-a-z0-9]{0,61}[a-z0-9])'
  const regex = regexOf(`^(${label}\\.)*${label}$`)
  const meter = new Meter()
  const names = Array.from({ length: 10_000 }, (_, index) => `web-${index}.shop-${index % 7}.example.com`)
  expect(regex.size).toBeGreaterThanOrEqual(262)
  expect(names.filter((name) => !regex.test(name, meter))).toEqual([])
  expect(regex.test('a'.repeat(64), meter)).toBe(false)
})

test.each([
  ['tests that build many large states', '[ab]*a[ab]{1000}c', (regex: Regex, text: string, meter: Meter) => regex.test(text, meter)],
  ['searches with many instructions', '(a?){300}b|[ab]', (regex: Regex, text: string, meter: Meter) => regex.findAll(text, -1, meter)],
])('CEL-02: %s end at the bound of work', (_what, pattern, use) => {
  const text = Array.from({ length: 3_000 }, (_none, index) => index.toString(2).replaceAll('0', 'a').replaceAll('1', 'b')).join('')
  const meter = new Meter()
  expect(() => use(regexOf(pattern), text, meter)).toThrow(WorkExceeded)
  expect(meter.work).toBeLessThan(1.1 * workMax)
})

test('CEL-02: a pattern keeps few states between tests', () => {
  const compile = vi.spyOn(RE2JS, 'compile')
  const regex = regexOf('(a|b)*a(a|b){18}$')
  const compiled = compile.mock.results[0]?.value as RE2JS
  compile.mockRestore()
  const text = Array.from({ length: 2_000 }, (_none, index) => index.toString(2).replaceAll('0', 'a').replaceAll('1', 'b')).join('')
  expect(regex.test(text, unlimitedMeter())).toBe(false)
  const { lazyDFA: states } = compiled.re2()
  expect(states.stateBudget - states.memBudget).toBeLessThan(200_000)
})

test('CEL-02: searches that each read the rest of the text end at the bound of work', () => {
  const regex = regexOf('a.*b|a')
  expect(() => regex.findAll('a'.repeat(8_000), -1, new Meter())).toThrow(WorkExceeded)
  expect(regex.findAll('a'.repeat(1_000), -1, new Meter())).toHaveLength(1_000)
})

test.each([
  ['a label', '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$', 'a-b'],
  ['a name', '^(([a-z]{1,63}\\.){1,15}[a-z]{2,63}|[[:digit:]]{1,3})$', 'a.example'],
  ['no repeats in a class', `[${'{1000}'.repeat(100)}]`, '{'],
  ['braces that are no counts', 'a{,1000}b{x}\\{1000}', 'a{,1000}b{x}{1000}'],
])('CEL-02: a pattern with counted repeats is compiled: %s', (_what, pattern, text) => {
  expect(regexOf(pattern).test(text, unlimitedMeter())).toBe(true)
})

describe('numbers', () => {
  test('CEL-02: ints beyond 2^53 are exact, and overflow of 64 bits is an error', () => {
    expect(add(unlimitedMeter(), Number.MAX_SAFE_INTEGER, 1)).toBe(2n ** 53n)
    expect(subtract(2n ** 53n, 1)).toBe(Number.MAX_SAFE_INTEGER)
    expect(multiply(2 ** 31, 2 ** 31)).toBe(2n ** 62n)
    for (const wrong of [
      add(unlimitedMeter(), int64Max, 1),
      subtract(-int64Max, 2),
      multiply(int64Max, 2),
      negate(-(2n ** 63n)),
      divide(-(2n ** 63n), -1),
    ]) {
      expect(wrong).toEqual(new CelError('integer overflow'))
    }
    expect(add(unlimitedMeter(), new Uint(2n ** 64n - 1n), new Uint(1n))).toEqual(new CelError('unsigned integer overflow'))
    expect(divide(1, 0)).toEqual(new CelError('division by zero'))
    expect(modulo(1, 0)).toEqual(new CelError('modulus by zero'))
    expect(Object.is(multiply(0, -5), 0)).toBe(true)
    expect(Object.is(negate(0), 0)).toBe(true)
  })

  test('a whole double is boxed, to distinguish it from an int', () => {
    expect([kindOf(1), kindOf(toDouble(1)), kindOf(1.5), kindOf(2n ** 60n), kindOf(1e300)]).toEqual([
      'int',
      'double',
      'double',
      'int',
      'double',
    ])
    expect(add(unlimitedMeter(), toDouble(0.5), toDouble(0.5))).toEqual(new Double(1))
    expect(add(unlimitedMeter(), 1, toDouble(1))).toBeInstanceOf(CelError)
  })

  test('CEL-04: numbers of all kinds are compared by value', () => {
    expect(equal(unlimitedMeter(), 1, new Double(1))).toBe(true)
    expect(equal(unlimitedMeter(), new Uint(1n), 1)).toBe(true)
    expect(equal(unlimitedMeter(), Number.NaN, Number.NaN)).toBe(false)
    expect(compare(1, new Double(1.0))).toBe(0)
    expect(compare(new Uint(2n), 1.5)).toBe(1)
    expect(compare(int64Max, int64Max - 1n)).toBe(1)
    expect(compare('a', 1)).toBeInstanceOf(CelError)
  })

  test('doubles are printed like in Go', () => {
    expect([1e21, 1e-7, 0.0001, 123456789, -0, 2.5].map(printDouble)).toEqual(['1e+21', '1e-07', '0.0001', '123456789', '-0', '2.5'])
  })
})

describe('texts', () => {
  test('CEL-02: sizes count code points, and the order is that of code points', () => {
    expect(countCodePoints('Rook takes 👑')).toBe(12)
    expect(compareTexts('\uffff', '👑')).toBeLessThan(0)
    expect(compareTexts('a', 'ab')).toBeLessThan(0)
  })

  test('CEL-18: patterns follow RE2, and match in linear time', () => {
    expect(compileRegex('(?=a)')).toBeInstanceOf(CelError)
    expect(compileRegex('(a)\\1')).toBeInstanceOf(CelError)
    expect(regexOf('(a+)+$').test(`${'a'.repeat(20_000)}b`, unlimitedMeter())).toBe(false)
    expect(regexOf('[a-z]+').findAll('ab 1 cd ef', 2, unlimitedMeter())).toEqual(['ab', 'cd'])
  })
})

describe('times', () => {
  test('CEL-02: durations are read and printed to the nanosecond', () => {
    for (const [text, printed] of [
      ['1h2m3s4ms', '3723.004s'],
      ['-1.5h', '-5400s'],
      ['1ns', '0.000000001s'],
      ['0', '0s'],
      ['1µs', '0.000001s'],
    ] as const) {
      const duration = parseDuration(unlimitedMeter(), text)
      expect(duration === undefined ? text : printDuration(duration)).toBe(printed)
    }
    for (const wrong of ['', '1', 's', '1x', '9223372037s', '1h2'])
      expect([wrong, parseDuration(unlimitedMeter(), wrong)]).toEqual([wrong, undefined])
    expect(convertToDuration(unlimitedMeter(), '320000000000s')).toBeInstanceOf(CelError)
  })

  test('CEL-02: times are parsed as RFC 3339, keep their nanoseconds, and are printed with their offset', () => {
    const time = parseTimestamp(unlimitedMeter(), '2011-08-18T19:03:37.010000001+01:00')
    expect(time?.ns).toBe(1313690617010000001n)
    expect(convertToString(time)).toBe('2011-08-18T19:03:37.010000001+01:00')
    expect(printTimestamp(new Timestamp(-1n))).toBe('1969-12-31T23:59:59.999999999Z')
    for (const wrong of ['2011-02-30T00:00:00Z', '2011-08-18 19:03:37Z', '0000-01-01T00:00:00Z', '2011-08-18T24:00:00Z', '2011-08-18']) {
      expect([wrong, parseTimestamp(unlimitedMeter(), wrong)]).toEqual([wrong, undefined])
    }
    expect(convertToTimestamp(unlimitedMeter(), 253402300800)).toBeInstanceOf(CelError)
    expect(convertToInt(time)).toBe(1313690617)
  })

  test('CEL-06: a zone is UTC, an offset, or a name in the runtime’s database', () => {
    const time = new Timestamp(1234567890n * 1_000_000_000n)
    const hours = (zone: string) => {
      const date = inZone(unlimitedMeter(), time, zone)
      return date instanceof CelError ? date.message : date.getUTCHours()
    }
    expect([hours(''), hours('-08:00'), hours('02:30'), hours('Australia/Sydney')]).toEqual([23, 15, 2, 10])
    expect(hours('Nowhere/City')).toBe('unknown time zone Nowhere/City')
  })
})

test('a map finds the same entry by every equal number, and refuses a duplicate key', () => {
  const [meter, map] = [unlimitedMeter(), new CelMap()]
  expect(map.add(1, 'one')).toBeUndefined()
  expect(map.add(new Uint(1n), 'again')).toBeInstanceOf(CelError)
  expect(map.add(1.5, 'half')).toBeInstanceOf(CelError)
  expect([map.get(meter, 1), map.get(meter, new Uint(1n)), map.get(meter, new Double(1)), map.get(meter, '1')]).toEqual([
    'one',
    'one',
    'one',
    undefined,
  ])
})
