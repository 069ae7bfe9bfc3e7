import { fc } from '@orch/testkit/chance'
import { describe, expect, test } from 'vitest'
import { decodeJson } from './scan.ts'
import { decodeText, replaceHalfPairs, surrogateEscapeIn } from './text.ts'

describe('a text with invalid UTF-8', () => {
  const rows: [bytes: number[], text: string][] = [
    [[0x78, 0xff, 0x79], 'x\ufffdy'],
    [[0x78, 0xc0, 0x80, 0x79], 'x\ufffd\ufffdy'],
    [[0x78, 0xe2, 0x82, 0x79], 'x\ufffd\ufffdy'],
    [[0xe2, 0x82, 0xac], '€'],
    [[0xe2, 0x82], '\ufffd\ufffd'],
    [[0xf0, 0x9f, 0x98, 0x80], '😀'],
    [[0xf0, 0x9f, 0x98], '\ufffd\ufffd\ufffd'],
    [[0xed, 0xa0, 0x80], '\ufffd\ufffd\ufffd'],
    [[0xf4, 0x90, 0x80, 0x80], '\ufffd\ufffd\ufffd\ufffd'],
    [[0xe0, 0x80, 0x80, 0xef, 0xbf, 0xbd], '\ufffd\ufffd\ufffd\ufffd'],
    [[], ''],
  ]
  test.each(rows)('%j has U+FFFD for each wrong byte', (bytes, text) => {
    expect(decodeText(Uint8Array.from(bytes))).toBe(text)
  })

  test('is reported with its first invalid byte if it is not JSON', () => {
    const message = (...bytes: number[]) => decodeJson(Uint8Array.from(bytes))
    expect(message(0xff, 0xfe, 0x7b)).toMatchObject({ message: "invalid character 'ÿ' looking for beginning of value" })
    expect(message(0x5b, 0xef, 0xbf, 0xbd)).toMatchObject({ message: "invalid character 'ï' looking for beginning of value" })
  })

  test('decodes to valid text for any bytes, and unchanged for valid ones', () => {
    const anyBytes = fc.uint8Array({ maxLength: 40 })
    fc.assert(
      fc.property(anyBytes, fc.string({ unit: 'binary' }), (bytes, text) => {
        expect(decodeText(bytes).isWellFormed()).toBe(true)
        expect(decodeText(new TextEncoder().encode(text))).toBe(text)
      }),
    )
  })
})

describe('half of a surrogate pair in JSON', () => {
  const rows: [text: string, value: string][] = [
    ['"x\\ud800y"', 'x\ufffdy'],
    ['"\\uDC00z"', '\ufffdz'],
    ['"\\ud83d\\ude00"', '😀'],
    ['"\\ud800\\ud83d\\ude00"', '\ufffd😀'],
    ['"\\ud800\\u0041"', '\ufffdA'],
    ['"\\\\ud800"', '\\ud800'],
    ['"\\\\\\ud800"', '\\\ufffd'],
    ['"\\\\ud83d\\ude00"', '\\ud83d\ufffd'],
    ['"\\ude00\\ud83d"', '\ufffd\ufffd'],
  ]
  test.each(rows)('%s is parsed like in Go', (text, value) => {
    expect(decodeJson(text)).toMatchObject({ kind: 'json', value })
  })

  test('is found by a scan that ignores whole pairs', () => {
    expect(surrogateEscapeIn('"a\\ud83d\\ude00"')).toBe(2)
    expect(surrogateEscapeIn('"\\\\ud83d\\ude00"')).toBe(8)
    expect(surrogateEscapeIn('"\\\\ud83d \\ufffd"')).toBeUndefined()
  })

  test('is replaced in names, which may become equal', () => {
    expect(decodeJson('{"\\ud800":1,"\\ud801":2}')).toMatchObject({ value: { '\ufffd': 2 }, duplicates: ['\ufffd'] })
  })

  test('is found in linear time in texts of any length', () => {
    const text = '\\\\'.repeat(200_000) + '\\ud800'.repeat(200_000)
    expect(replaceHalfPairs(text)).toBe('\\\\'.repeat(200_000) + '\ufffd'.repeat(200_000))
  })

  test('does not occur in any JSON text of our own', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const text = JSON.stringify(value)
        expect(replaceHalfPairs(text)).toBe(text)
      }),
    )
  })
})
