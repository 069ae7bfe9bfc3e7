import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { escapeProperty, namesOfProperty } from './escape.ts'

interface EscapingCase {
  readonly unescaped: string
  readonly escaped?: string
  readonly unescapable?: boolean
}

const [, ...lines] = readFileSync(new URL('../cases/escaping.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const cases = lines.map((line) => JSON.parse(line) as EscapingCase)

test('CEL-21: property names are escaped according to the cases, and other names have no escaped form', () => {
  for (const { unescaped, escaped } of cases) expect([unescaped, escapeProperty(unescaped)]).toEqual([unescaped, escaped])
})

test('a keyword is reachable under both names, unless it cannot be a field selector', () => {
  expect(namesOfProperty('namespace')).toEqual(['__namespace__', 'namespace'])
  expect(namesOfProperty('true')).toEqual(['__true__'])
  expect(namesOfProperty('a-b')).toEqual(['a__dash__b'])
  expect(namesOfProperty('1up')).toEqual([])
})
