import { expect, test } from 'vitest'
import { string } from '../description/texts.ts'
import { list, ref } from '../description/values.ts'
import { textAt } from '../meta/level-text.ts'
import { differenceOf } from './object-difference.ts'

const before = { name: 'a', value: 'b' }

test('TODAY-POD-20: a difference is the JSON of both values in the unified format, from 1.34 on', () => {
  const difference = differenceOf(ref('core/v1.PodDNSConfigOption'), before, { name: 'a', value: 'c' })
  expect(textAt(difference, 34)).toBe('\n@@ -1,4 +1,4 @@\n {\n  "Name": "a",\n- "Value": "b"\n+ "Value": "c"\n }\n')
  expect(textAt(difference, 33)).toBe('')
})

test('TODAY-POD-20: a difference shows three lines before and after the changed lines', () => {
  const config = (third: string) => ({ nameservers: ['1', '2', third, '4', '5', '6'] })
  const difference = textAt(differenceOf(ref('core/v1.PodDNSConfig'), config('3'), config('x')), 37)
  expect(difference).toBe('\n@@ -2,7 +2,7 @@\n  "Nameservers": [\n   "1",\n   "2",\n-  "3",\n+  "x",\n   "4",\n   "5",\n   "6"\n')
})

const texts = list(string())
const at = (level: number, before: readonly string[], after: readonly string[]) => textAt(differenceOf(texts, before, after), level)
const lines = (...rest: string[]) => ['', ...rest, ''].join('\n')

test('TODAY-POD-20: a difference may add more lines than it removes', () => {
  expect(at(34, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], ['a', 'b', 'c', 'd', 'x', 'y', 'f', 'g', 'h'])).toBe(
    lines('@@ -3,7 +3,8 @@', '  "b",', '  "c",', '  "d",', '- "e",', '+ "x",', '+ "y",', '  "f",', '  "g",', '  "h"'),
  )
})

test('TODAY-POD-20: added or removed lines have the ranges of the unified format', () => {
  expect(at(37, [], ['a'])).toBe(lines('@@ -1 +1,3 @@', '-[]', '+[', '+ "a"', '+]'))
  expect(at(37, ['a', 'b'], ['a', 'b', 'c'])).toBe(lines('@@ -1,4 +1,5 @@', ' [', '  "a",', '- "b"', '+ "b",', '+ "c"', ' ]'))
})

test('TODAY-POD-20: a part of a Pod has the names and the order of the internal type, and the escapes of Go', () => {
  const text = textAt(differenceOf(ref('core/v1.PodSpec'), { hostname: '<a>' }, { hostname: '{"b"}', nodeName: 'n' }), 37)
  const changed = text.split('\n').filter((line) => /^[-+]/.test(line))
  expect(changed.at(0)).toBe('- "NodeName": "",')
  expect(changed).toContain('- "Hostname": "\\u003ca\\u003e",')
  expect(changed.at(-1)).toBe('+ "Hostname": "{\\"b\\"}",')
})
