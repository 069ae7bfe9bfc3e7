import { readYaml } from '@orch/core/yaml'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blameOf } from '../../console/src/blame.ts'
import { diffLines, diffParts, shownText, yamlLines } from '../../console/src/yaml.ts'

const printed = (value: unknown) =>
  yamlLines(value)
    .map(({ text }) => text)
    .join('\n')

test('a printed object is parsed to the same value', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('true', 'null', '1', '1e3', 'a: b', '- a', 'two\nlines', 'end\n', '', '~', 'a b'))
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, text, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('map')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    map: fc.dictionary(
      fc.string({ minLength: 1 }).filter((name) => name !== '__proto__'),
      tie('value'),
      { maxKeys: 3 },
    ),
  }))
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { minKeys: 1 }), (object) => {
      expect(readYaml(`${printed(object)}\n`)).toEqual(object)
    }),
    { seed: 1, numRuns: 300 },
  )
})

test('each line has the managers of its value', () => {
  const object = { spec: { replicas: 2, ports: [{ port: 80, name: 'a' }, { port: 81 }], args: ['x', 'z'], size: { big: true } } }
  const fields = {
    'f:spec': { 'f:ports': { '.': {}, 'k:{"port":81}': { '.': {}, 'f:port': {} } }, 'f:args': { 'v:"z"': {} }, 'f:size': {} },
  }
  const blame = blameOf(object, [
    { manager: 'one', operation: 'Apply', fieldsV1: fields },
    { manager: 'other', operation: 'Update', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
  ])
  const managers = yamlLines(object).map(({ text, path }) => `${text.trim()} ${blame(path).map(({ manager }) => manager)}`)
  expect(managers).toEqual([
    'spec: ',
    'replicas: 2 other',
    'ports: one',
    '- port: 80 ',
    'name: a ',
    '- port: 81 one',
    'args: ',
    '- x ',
    '- z one',
    'size: one',
    'big: true one',
  ])
})

test.each([
  [['a', 'b', 'c'], ['a', 'c'], ' a -b  c'],
  [['a'], ['a', 'b'], ' a +b'],
  [[], ['a'], '+a'],
  [['a', 'b'], ['b', 'a'], '-a  b +a'],
])('the difference of %j and %j is minimal', (before, after, expected) => {
  const signs = { same: ' ', added: '+', removed: '-' }
  expect(
    diffLines(before, after)
      .map(({ kind, text }) => signs[kind] + text)
      .join(' '),
  ).toBe(expected)
})

test('a comparison of long texts shows the lines around its changes, up to the lines of a page', () => {
  const before = Array.from({ length: 20_000 }, (_, index) => `line ${index}`)
  const after = before.map((text, index) => (index === 100 || index === 1_500 ? 'changed' : text))
  const shown = diffParts(diffLines(before, after), 12)
  expect(shown.map((part) => (part.kind === 'left' ? part.count : part.lines.map(({ kind }) => kind[0]).join('')))).toEqual([
    97,
    'sssrasss',
    1_393,
    'sssr',
    18_500,
  ])
  expect(diffParts(diffLines(before, []), 5)).toEqual([
    { kind: 'lines', lines: before.slice(0, 5).map((text) => ({ kind: 'removed', text })) },
    { kind: 'left', count: 19_995 },
  ])
})

test('a line of a megabyte is cut, and its length is shown', () => {
  expect(shownText('x'.repeat(2_000))).toHaveLength(2_000)
  expect(shownText('x'.repeat(902_000))).toBe(`${'x'.repeat(2_000)} … 900,000 more characters`)
})

test('a difference of a thousand lines is found between long texts, and two unrelated texts differ completely', () => {
  const before = Array.from({ length: 20_000 }, (_, index) => `line ${index}`)
  const after = [...before.slice(0, 10), 'new', ...before.slice(10, 15_000), ...before.slice(15_001)]
  expect(diffLines(before, after).filter(({ kind }) => kind !== 'same')).toEqual([
    { kind: 'added', text: 'new' },
    { kind: 'removed', text: 'line 15000' },
  ])
  const other = before.map((text) => `${text} other`)
  expect(diffLines(before, other).map(({ kind }) => kind)).toEqual([...before.map(() => 'removed'), ...other.map(() => 'added')])
})

test('a comparison has the lines of both texts, in order', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const found = diffLines(before, after)
      expect(found.filter(({ kind }) => kind !== 'added').map(({ text }) => text)).toEqual(before)
      expect(found.filter(({ kind }) => kind !== 'removed').map(({ text }) => text)).toEqual(after)
    }),
    { seed: 1, numRuns: 500 },
  )
})

test('invisible characters, and characters that reverse text, are escaped', () => {
  expect(printed({ name: 'a\u202eb', lines: 'one\n\u200btwo' })).toBe('name: "a\\u202eb"\nlines: "one\\n\\u200btwo"')
})
