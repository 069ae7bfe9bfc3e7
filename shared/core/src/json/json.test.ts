import { fc } from '@orch/testkit/chance'
import { describe, expect, test } from 'vitest'
import { copyValue, memberOf, setMember } from './member.ts'
import { Numeral } from './numeral.ts'
import { parseExactly } from './parse-exactly.ts'
import { printJson } from './print.ts'
import { decodeJson, decodeOwnJson, hasLongNumber, jsonDepthMax, scanJson } from './scan.ts'

function decode(text: string): Extract<ReturnType<typeof decodeJson>, { kind: 'json' }> {
  const decoded = decodeJson(text)
  if (decoded.kind === 'malformed') throw new Error(decoded.message)
  return decoded
}

describe('parsing JSON', () => {
  test('accepts a plain body', () => {
    expect(decodeJson(new TextEncoder().encode('{"a":["b:{[\\"",1,null,true]}'))).toEqual({
      kind: 'json',
      value: { a: ['b:{["', 1, null, true] },
      duplicates: [],
      hasBigIntegers: false,
      hasNumerals: false,
    })
  })

  test('VAL-06: reports members that are written twice by their paths, and the last value counts', () => {
    const decoded = decode('{"a":1,"a":2,"spec":{"ports":[{"p":1},{"p":1,"p":2,"p":3}]}}')
    expect(decoded.duplicates).toEqual(['a', 'spec.ports[1].p'])
    expect(decoded.value).toEqual({ a: 2, spec: { ports: [{ p: 1 }, { p: 3 }] } })
  })

  test('treats an escaped name as the same name', () => {
    expect(decode('{"a":1,"\\u0061":2}').duplicates).toEqual(['a'])
  })

  const numbers: [text: string, value: unknown, hasBigIntegers: boolean][] = [
    ['9007199254740991', 9007199254740991, false],
    ['9007199254740993', 9007199254740993n, true],
    ['-9223372036854775808', -9223372036854775808n, true],
    ['9223372036854775808', 2 ** 63, false],
    ['0.12345678901234567890', 0.12345678901234568, false],
    ['1e3', 1000, false],
    ['-0.5E-2', -0.005, false],
  ]
  test.each(numbers)('reads the number %s', (text, value, hasBigIntegers) => {
    expect(decode(`[${text}]`)).toEqual({ kind: 'json', value: [value], duplicates: [], hasBigIntegers, hasNumerals: false })
  })

  const bad: [text: string, message: string][] = [
    ['', 'unexpected end of JSON input'],
    [' ', 'unexpected end of JSON input'],
    ['{"a"', 'unexpected end of JSON input'],
    ['{"a":', 'unexpected end of JSON input'],
    ['{"a":1', 'unexpected end of JSON input'],
    ['[1', 'unexpected end of JSON input'],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['[1 2]', "invalid character '2' after array element"],
    ['[] x', "invalid character 'x' after top-level value"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
    ['nonsense', "invalid character 'o' in literal null (expecting 'u')"],
    ['nul', 'unexpected end of JSON input'],
    ['[trUe]', "invalid character 'U' in literal true (expecting 'u')"],
    ['{"a":fals }', "invalid character ' ' in literal false (expecting 'e')"],
    ['nulls', "invalid character 's' after top-level value"],
    ['{"a":01}', "invalid character '1' after object key:value pair"],
    ['[-]', "invalid character ']' in numeric literal"],
    ['-', 'unexpected end of JSON input'],
    ['[1.]', "invalid character ']' after decimal point in numeric literal"],
    ['1.2.3', "invalid character '.' after top-level value"],
    ['[1e]', "invalid character ']' in exponent of numeric literal"],
    ['[1.5e+x]', "invalid character 'x' in exponent of numeric literal"],
    ['1e2e3', "invalid character 'e' after top-level value"],
    ['1e400', 'json: cannot unmarshal number 1e400 into Go value of type float64'],
    ['["\\q"]', "invalid character 'q' in string escape code"],
    ['["\\u12x4"]', "invalid character 'x' in \\u hexadecimal character escape"],
    ['["\\n\\u0041\\"a\nb"]', "invalid character '\\n' in string literal"],
    ['["\x00"]', "invalid character '\\x00' in string literal"],
    ['["a', 'unexpected end of JSON input'],
    ['["a\\', 'unexpected end of JSON input'],
    ['["\t', "invalid character '\\t' in string literal"],
    ['\uFEFF{}', "invalid character 'ï' looking for beginning of value"],
  ]
  test.each(bad)('refuses %s', (text, message) => {
    expect(decodeJson(text)).toMatchObject({ kind: 'malformed', message })
  })

  test('LIM: bounds the depth, and refuses deeper values before parsing', () => {
    expect(decode('['.repeat(jsonDepthMax) + ']'.repeat(jsonDepthMax)).kind).toBe('json')
    expect(decodeJson('['.repeat(100_000))).toEqual({ kind: 'malformed', message: "invalid character '[' exceeded max depth" })
    expect(decodeJson('{"a":'.repeat(100_000))).toEqual({ kind: 'malformed', message: "invalid character '{' exceeded max depth" })
  })

  test('accepts the same depth in the careful parser', () => {
    const deep = `${'{"a":'.repeat(jsonDepthMax - 1)}{"b":1,"b":2}${'}'.repeat(jsonDepthMax - 1)}`
    expect(decode(deep).duplicates).toEqual([`${'a.'.repeat(jsonDepthMax - 1)}b`])
  })

  test('accepts a long string with escapes in the careful parser', () => {
    const long = '\\"x'.repeat(300_000)
    expect(decode(`{"a":"${long}","a":1}`).value).toEqual({ a: 1 })
  })

  test('treats names of JavaScript properties as plain data', () => {
    for (const text of ['{"__proto__":{"a":1},"constructor":2}', '{"__proto__":3,"__proto__":{"a":1},"constructor":2}']) {
      const { value } = decode(text)
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
      expect(JSON.stringify(value)).toBe('{"__proto__":{"a":1},"constructor":2}')
    }
  })
})

test('counts characters outside of strings', () => {
  expect(scanJson('{"a:{[":[{"b":"\\\\"},"}:\\""]}')).toMatchObject({ members: 2, depth: 3, needsCare: false })
})

test('integers beyond 2^53 are printed exactly', () => {
  const { value, hasBigIntegers } = decode('{"a":[9007199254740993,{"b":1}],"c":"x"}')
  expect(printJson(value, { hasBigIntegers })).toBe('{"a":[9007199254740993,{"b":1}],"c":"x"}')
  expect(printJson({ a: 1 })).toBe('{"a":1}')
})

test('a value may be printed as deep as it may be parsed', () => {
  const deep = `${'[{"a":'.repeat(jsonDepthMax / 2)}1${'}]'.repeat(jsonDepthMax / 2)}`
  expect(printJson(decode(deep).value)).toBe(deep)
})

test('the slower printer leaves out the members that JSON.stringify leaves out', () => {
  const value = { a: undefined, b: [undefined, null, {}, []], c: 'é"', d: -0, e: 1.5, f: 5n }
  expect(printJson(value, { hasBigIntegers: true })).toBe('{"b":[null,null,{},[]],"c":"é\\"","d":0,"e":1.5,"f":5}')
})

test.each([[false], [true]])(
  'a value that contains itself is refused, and a value that contains a part twice is not (known integers: %s)',
  (hasBigIntegers) => {
    const object: Record<string, unknown> = { a: [1n] }
    const list: unknown[] = [2n]
    object['b'] = { c: object }
    list.push([list])
    for (const value of [object, list]) expect(() => printJson(value, { hasBigIntegers })).toThrow('contains itself')
    const part = { n: 3n }
    expect(printJson({ a: part, b: [part, part] }, { hasBigIntegers })).toBe('{"a":{"n":3},"b":[{"n":3},{"n":3}]}')
  },
)

test('only own members count', () => {
  const object: Record<string, unknown> = {}
  setMember(object, '__proto__', 1)
  expect(Object.keys(object)).toEqual(['__proto__'])
  expect(Object.getPrototypeOf(object)).toBe(Object.prototype)
  expect([memberOf(object, '__proto__'), memberOf(object, 'constructor')]).toEqual([1, undefined])
})

test('a printed value parses to the same value in both parsers', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      const { value: read, hasBigIntegers, duplicates } = decode(text)
      expect(printJson(read, { hasBigIntegers })).toBe(text)
      expect(duplicates).toEqual([])
      const exact = parseExactly(text)
      expect(exact.kind === 'parsed' && printJson(exact.value, exact)).toBe(text)
    }),
  )
})

test('both parsers accept the same texts', () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom('{', '}', '[', ']', '"a"', ':', ',', '1', '0', '-', '.5', 'e', '"', '\\', 'true', ' ', '\n', '\u0001'),
      }),
      (text) => {
        let isJson = true
        try {
          JSON.parse(text)
        } catch {
          isJson = false
        }
        const decoded = decodeJson(text)
        const isOutOfRange = decoded.kind === 'malformed' && decoded.message.startsWith('json: cannot unmarshal number')
        // An invalid text is also reported if a number is out of range.
        expect(decoded.kind === 'json' || (isOutOfRange && isJson)).toBe(isJson)
      },
    ),
    { numRuns: 2000 },
  )
})

describe('parsing trusted JSON', () => {
  test('gives the same value as the other parsers', () => {
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, '', '1234567890123456', 'e9', '\u2028'),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.maxSafeInteger(),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }).filter((one) => one > 2n ** 53n || one < -(2n ** 53n)),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.string({ maxLength: 3 }), tie('value'), { maxKeys: 3, noNullPrototype: true }),
      ),
    }))
    fc.assert(
      fc.property(value, (one) => {
        const text = printJson(one)
        const { value: read, hasBigIntegers } = decode(text)
        expect(decodeOwnJson(text)).toMatchObject({ value: read, hasBigIntegers })
        expect(decodeOwnJson(new TextEncoder().encode(text)).value).toEqual(read)
      }),
      { numRuns: 1000 },
    )
  })

  test('refuses invalid JSON with an error', () => {
    expect(() => decodeOwnJson('{')).toThrow(SyntaxError)
    expect(() => decodeOwnJson('{"a":1234567890123456')).toThrow(SyntaxError)
  })

  test('finds a number of sixteen digits at any place, and ignores fifteen and the digits in a word', () => {
    const part = fc.oneof(fc.integer(), fc.stringMatching(/^[a-z]\d{16,20}[a-z]$/), fc.constant(null))
    const long = fc.integer({ min: 12, max: 18 }).map((count) => 7n * 10n ** BigInt(count - 1))
    fc.assert(
      fc.property(fc.array(part), fc.boolean(), long, fc.constantFrom(undefined, 2), (parts, isNegative, number, space) => {
        const text = JSON.stringify({ a: { parts: [...parts, 'number', ...parts] } }, undefined, space)
        expect(hasLongNumber(text)).toBe(false)
        const digits = String(isNegative ? -number : number)
        expect(hasLongNumber(text.replace('"number"', digits))).toBe(number >= 10n ** 15n)
        expect(hasLongNumber(text.replace('["number"', `[${digits}`))).toBe(text.includes('["number"') && number >= 10n ** 15n)
      }),
    )
    expect([hasLongNumber('1'.repeat(15)), hasLongNumber('1'.repeat(16))]).toEqual([false, true])
  })
})

describe('a copy of a value', () => {
  test('equals it and shares no container with it', () => {
    const text = '{"a":[{"b":[1,null,"x"]},[]],"__proto__":{"c":{}},"1":true,"0":false}'
    const value: unknown = JSON.parse(text)
    const copy = copyValue(value)
    expect(JSON.stringify(copy)).toBe(JSON.stringify(value))
    const containersIn = (whole: unknown): unknown[] =>
      typeof whole === 'object' && whole !== null ? [whole, ...Object.values(whole).flatMap(containersIn)] : []
    const containers = new Set(containersIn(value))
    expect(containersIn(copy).filter((container) => containers.has(container))).toEqual([])
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
  })

  test('may be changed where the value is frozen, and may be deeper than the call stack', () => {
    let deep: unknown = Object.freeze([1])
    for (let depth = 0; depth < 100_000; depth++) deep = Object.freeze(depth % 2 === 0 ? { a: deep } : [deep])
    let copy = copyValue(deep)
    let thawed = 0
    for (; typeof copy === 'object' && copy !== null; copy = Object.values(copy)[0]) if (!Object.isFrozen(copy)) thawed += 1
    expect([thawed, copy]).toEqual([100_001, 1])
  })

  test('has the numbers of the value', () => {
    const numeral = new Numeral('1.0', 1)
    expect(copyValue([numeral, 2n ** 60n])).toEqual([numeral, 2n ** 60n])
    expect(copyValue(numeral)).toBe(numeral)
  })
})
