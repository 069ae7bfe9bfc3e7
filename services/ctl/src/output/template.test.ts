import { expect, test } from 'vitest'
import { parseTemplate } from './template.ts'

const value = { items: [{ a: { name: 'x', n: 1 } }, { a: { name: 'y', n: 2, list: [true, null] } }], 'odd.key': { '{}': 'z' } }

test.each([
  ['{.items[*].a.name}', 'x y'],
  ['{.items[0].a}', '{"name":"x","n":1}'],
  ['a {.items[1].a.list[0]} b', 'a true b'],
  ['{range .items[*]}{.a.name}={.a.n}{"\\n"}{end}', 'x=1\ny=2\n'],
  ['{range .items[*]}[{range .a.list[*]}<{@}>{end}]{end}', '[][<true><null>]'],
  ["{.odd\\.key['{}']}", 'z'],
  ['{.nothing}', ''],
  ['{"{"}{\'}\'}', '{}'],
])('the template %s prints what kubectl prints', (template, expected) => {
  expect(parseTemplate(template)(value)).toBe(expected)
})

test.each([
  ['{.a', 'unclosed action'],
  ['{end}', '{end} without {range}'],
  ['{range .a}', '{range} without {end}'],
  ['{.a[}', 'error parsing jsonpath'],
])('%s is refused', (template, message) => {
  expect(() => parseTemplate(template)).toThrow(message)
})
