import { readYaml } from '@orch/core/yaml'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blameOf } from '../../console/src/blame.ts'
import { diffLines, yamlLines } from '../../console/src/yaml.ts'

const printed = (value: unknown) =>
  yamlLines(value)
    .map(({ text }) => text)
    .join('\n')

test('a printed object reads as the same value', () => {
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
])('the difference of %j and %j is short', (before, after, expected) => {
  const signs = { same: ' ', added: '+', removed: '-' }
  expect(
    diffLines(before, after)
      .map(({ kind, text }) => signs[kind] + text)
      .join(' '),
  ).toBe(expected)
})
