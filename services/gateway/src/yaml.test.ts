import { expect, test } from 'vitest'
import { parseYaml } from './yaml.ts'

test('VAL-06: members that are there twice are named by their paths, and the last one counts', () => {
  expect(parseYaml('a: 1\nb:\n  - c: 1\n    c: 2\n    d: {e: 1, e: 3}\na: 2\n')).toEqual({
    kind: 'yaml',
    value: { a: 2, b: [{ c: 2, d: { e: 3 } }] },
    duplicates: ['a', 'b[0].c', 'b[0].d.e'],
  })
})

test('a text without repetition has no duplicates, and times stay texts', () => {
  expect(parseYaml('a: 2020-01-01T00:00:00Z\nb: "1"')).toEqual({
    kind: 'yaml',
    value: { a: '2020-01-01T00:00:00Z', b: '1' },
    duplicates: [],
  })
})

test.each(['a: [', 'a: 1\na: 2\nb: {', 'a: !unknown 1'])('SSA-02: what is no YAML is told: %j', (text) => {
  expect(parseYaml(text)).toEqual({ kind: 'malformed', message: expect.stringMatching(/./) })
})
