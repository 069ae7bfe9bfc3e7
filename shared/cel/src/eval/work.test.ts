import { describe, expect, test } from 'vitest'
import { Environment } from '../environment.ts'
import { kubernetesLibraries } from '../kubernetes/index.ts'
import { types } from '../types.ts'
import { unlimitedMeter, workMax } from '../values/meter.ts'
import { plainNode, type ViewNode, viewOf } from '../values/views.ts'
import { plan } from './plan.ts'
import type { Evaluation, Program } from './program.ts'

const { dyn } = types
const environment = new Environment({
  libraries: kubernetesLibraries,
  variables: { numbers: dyn, texts: dyn, self: dyn, other: dyn, long: dyn },
})

function planned(expression: string): Program {
  const compiled = environment.compile(expression)
  if (compiled.kind === 'invalid') throw new Error(compiled.message)
  const made = plan(compiled.ast)
  if (made.kind === 'refused') throw new Error(made.message)
  return made.program
}

function evaluate(expression: string, variables: Readonly<Record<string, unknown>>): Evaluation {
  return planned(expression).evaluate(variables, { costLimit: 1_000_000 })
}

const times = (count: number) => Array.from({ length: count }, (_, index) => index)
const anObject = (size: number, last: unknown = 'last') => ({
  ...Object.fromEntries(times(size - 1).map((key) => [`key${key}`, key])),
  last,
})
const object = (fields: Readonly<Record<string, ViewNode>>): ViewNode => ({
  kind: 'object',
  typeName: 'object',
  fields: new Map(Object.entries(fields).map(([property, node]) => [property, { property, node }])),
})
const overLimit = { kind: 'error', isOverLimit: true, message: 'operation cancelled: actual cost limit exceeded' }

describe('work beyond the counted cost ends the evaluation like the limit of cost', () => {
  const numbers = times(50_000)
  const texts = numbers.map((number) => `x${number}`)
  const long = '1'.repeat(300_000)
  const items = times(5_000).map((key) => ({ name: `item ${key}` }))
  const item = object({ name: plainNode })
  const lists = object({
    byName: { kind: 'list', items: item, rule: { kind: 'map', keys: ['name'] } },
    set: { kind: 'list', items: plainNode, rule: { kind: 'set' } },
    data: { kind: 'bytes' },
  })
  const self = viewOf(unlimitedMeter(), lists, { byName: items, set: texts, data: btoa(long) })
  const nested = { list: [items], other: [structuredClone(items)] }

  test.each([
    ['patterns that are made at evaluation', 'texts.all(t, !t.matches(t + "$x"))'],
    ['times in a zone', "numbers.all(n, timestamp(n).getHours('Europe/Berlin') >= 0)"],
    ['long texts as doubles', 'numbers.all(n, double(long) > 0.0)'],
    ['long durations', 'numbers.all(n, duration(long + "s") == duration("1s") || true)'],
    ['long texts that are formatted', 'numbers.all(n, "%s".format([long]).size() > 0)'],
    ['long texts in hexadecimal', 'numbers.all(n, "%x".format([long]).size() > 0)'],
    ['maps that are formatted', 'numbers.all(n, "%s".format([other.list]) != "")'],
    ['long texts that replace', 'numbers.all(n, "xxxxxxxx".replace("x", long) != "")'],
    ['long separators', 'texts.join(long) != ""'],
    ['unions of sets', 'numbers.all(n, (self.set + self.set).size() > 0)'],
    ['merged lists with keys', 'numbers.all(n, (self.byName + self.byName).size() > 0)'],
    ['bytes in base64', 'numbers.all(n, self.data.size() > 0)'],
  ])('%s', (_, expression) => {
    expect(evaluate(expression, { numbers, texts, long, self, other: nested })).toMatchObject(overLimit)
  })

  test('for objects deep in lists', () => {
    const deep = (key: number): unknown => times(40).map((index) => [times(40).map(() => ({ index, key }))])
    const rule = 'numbers.all(n, numbers.all(m, self[n] == other[m] || true))'
    expect(
      evaluate(rule, { numbers: times(100), self: times(100).map(() => deep(1)), other: times(100).map(() => deep(1)) }),
    ).toMatchObject(overLimit)
  })
})

test('an evaluation begins without the work of the previous evaluation', () => {
  const program = planned("numbers.all(n, timestamp(n).getHours('Europe/Berlin') >= 0)")
  for (let count = 0; count < 3; count++) expect(program.evaluate({ numbers: times(1_500) })).toMatchObject({ kind: 'value', value: true })
})

test('values made of constants are not counted as work of an evaluation', () => {
  expect(evaluate('numbers.all(n, "%s".format([long]).size() > 0)', { numbers: times(50_000), long: 'x'.repeat(1_000_000) })).toMatchObject(
    overLimit,
  )
  for (let count = 0; count < 200; count++)
    expect(evaluate(`duration("${'1s'.repeat(3_000)}") > duration("1s")`, {})).toMatchObject({ value: true })
})

describe('equal maps and lists in a loop', () => {
  const size = 20_000
  const rule = 'numbers.all(n, self == other)'
  const loops = 100
  /** Each loop looks up the accumulator, the condition and two variables, and compares a tenth of the size. */
  const cost = 2 + loops * (3 + 2 + size / 10)

  test.each([
    ['maps', anObject(size), anObject(size)],
    ['lists', times(size), times(size)],
    [
      'maps with a schema',
      viewOf(unlimitedMeter(), { kind: 'map', values: { kind: 'double' } }, anObject(size, 1)),
      viewOf(unlimitedMeter(), { kind: 'map', values: { kind: 'double' } }, anObject(size, 1)),
    ],
  ])('%s are compared once, and their cost is charged each time', (_, self, other) => {
    const evaluation = evaluate(rule, { numbers: times(loops), self, other })
    expect(evaluation).toMatchObject({ kind: 'value', value: true, cost })
    expect(evaluation.work).toBeLessThan(workMax / 10)
  })

  test.each([
    ['maps', anObject(size), anObject(size, 'other')],
    ['lists', times(size), [...times(size - 1), -1]],
  ])('%s that differ in the end are not equal', (_, self, other) => {
    expect(evaluate('numbers.exists(n, self == other) || !(self != other)', { numbers: times(loops), self, other })).toMatchObject({
      kind: 'value',
      value: false,
    })
  })

  test('the next evaluation compares again', () => {
    const program = planned('self == other')
    const [self, other] = [anObject(size), anObject(size)]
    expect(program.evaluate({ self, other })).toMatchObject({ value: true })
    other.last = 'changed'
    expect(program.evaluate({ self, other })).toMatchObject({ value: false })
  })

  test('the same JSON under two schemas is compared under each schema', () => {
    const items = times(100)
    const list = (kind: 'set' | 'atomic') => viewOf(unlimitedMeter(), { kind: 'list', items: plainNode, rule: { kind } }, items)
    const reversed = items.toReversed()
    const node = object({
      set: { kind: 'list', items: plainNode, rule: { kind: 'set' } },
      atomic: { kind: 'list', items: plainNode, rule: { kind: 'atomic' } },
    })
    const self = viewOf(unlimitedMeter(), node, { set: items, atomic: items })
    expect([
      evaluate('self.set == other', { self, other: reversed }),
      evaluate('self.atomic == other', { self, other: reversed }),
    ]).toMatchObject([{ value: true }, { value: false }])
    expect(evaluate('self.set == other && self.atomic != other', { self, other: reversed })).toMatchObject({ value: true })
    expect(evaluate('self == other', { self: list('set'), other: list('atomic') })).toMatchObject({ value: true })
  })
})
