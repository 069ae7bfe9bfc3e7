import { expect, test, vi } from 'vitest'
import { parseYaml } from './yaml.ts'

test('VAL-06: members that are there twice are named by their paths, and the last one counts', () => {
  expect(parseYaml('a: 1\nb:\n  - c: 1\n    c: 2\n    d: {e: 1, e: 3}\na: 2\n')).toEqual({
    kind: 'yaml',
    value: { a: 2, b: [{ c: 2, d: { e: 3 } }] },
    duplicates: ['a', 'b[0].c', 'b[0].d.e'],
    hasBigIntegers: false,
  })
})

test('a text without repetition has no duplicates, and times stay texts', () => {
  expect(parseYaml('a: 2020-01-01T00:00:00Z\nb: "1"')).toEqual({
    kind: 'yaml',
    value: { a: '2020-01-01T00:00:00Z', b: '1' },
    duplicates: [],
    hasBigIntegers: false,
  })
})

test('aliases are read, as long as they stand for no more than a body may hold', () => {
  const value = { a: ['x'], b: ['x'] }
  expect(parseYaml('a: &a [x]\nb: *a\n')).toEqual({ kind: 'yaml', value, duplicates: [], hasBigIntegers: false })
})

const laughs = Array.from({ length: 20 }, (_, level) => `a${level + 1}: &a${level + 1} [*a${level},*a${level},*a${level}]`).join('\n')
test.each([
  ['LIM-12: aliases of aliases', `a0: &a0 lol\n${laughs}\n`],
  ['LIM-12: aliases of aliases beside a repeated member', `a0: &a0 lol\n${laughs}\nb: 1\nb: 2\n`],
  ['LIM-12: a long text many times', `a: &a "${'x'.repeat(100_000)}"\nb: [${Array(100).fill('*a').join(',')}]\n`],
  ['LIM-12: a list in itself', 'a: &a [*a]\n'],
  ['LIM-12: two maps in one another', 'a: &a {b: &b {c: *a}}\nd: *b\n'],
  [
    'LIM-12: aliases a hundred thousand deep',
    Array.from({ length: 100_000 }, (_, at) => `${100_000 - at}: &a${at} [*a${at - 1}]`)
      .join('\n')
      .replace('*a-1', ''),
  ],
])('%s: refused', (_title, text) => {
  expect(parseYaml(text)).toEqual({ kind: 'malformed', message: 'its aliases stand for more than a body may hold' })
})

test('LIM-12: what is shared is looked at once, and a part that contains itself ends the look at it', () => {
  const looks = vi.spyOn(Object, 'entries')
  try {
    parseYaml('a: &a [*a]\nb: *a\n')
    parseYaml(`a0: &a0 lol\n${laughs}\n`)
    expect(looks.mock.calls.length).toBeLessThan(60)
  } finally {
    looks.mockRestore()
  }
})

test.each(['a: 1\n---\nb: 2\n', '---\na: 1\n---\n', '---\n'.repeat(100_000)])('several documents are refused: %#', (text) => {
  expect(parseYaml(text)).toEqual({ kind: 'malformed', message: 'expected a single document in the stream, but found more' })
})

test.each(['---\na: "\\n---"\n', '# one\n---\na: "\\n---"\n...\n', 'a: "\\n---"\n'])('one document may say where it begins: %j', (text) => {
  expect(parseYaml(text)).toMatchObject({ kind: 'yaml', value: { a: '\n---' } })
})

test.each(['a: [', 'a: 1\na: 2\nb: {', 'a: !unknown 1'])('SSA-02: invalid YAML is a 400: %j', (text) => {
  expect(parseYaml(text)).toEqual({ kind: 'malformed', message: expect.stringMatching(/./) })
})
