import { expect, test } from 'vitest'
import { goQuote } from './go-quote.ts'

test.each([
  ['letters and spaces', 'a b', '"a b"'],
  ['quotes and backslashes', 'a"b\\', '"a\\"b\\\\"'],
  ['named control characters', '\x07\b\f\n\r\t\v', '"\\a\\b\\f\\n\\r\\t\\v"'],
  ['other control characters', '\x00\x1b\x7f', '"\\x00\\x1b\\x7f"'],
  ['letters and symbols of any script', 'é漢😀', '"é漢😀"'],
  ['spaces and marks that show nothing', '\u00a0\u200b\u{e0001}', '"\\u00a0\\u200b\\U000e0001"'],
  ['half of a pair', '\ud800', '"\ufffd"'],
  ['more than 65,536 characters', 'x'.repeat(65_537), `"${'x'.repeat(65_536)}..."`],
])('a text with %s is quoted as in Go', (_title, text, quoted) => {
  expect(goQuote(text)).toBe(quoted)
})
