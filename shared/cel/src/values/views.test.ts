import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { plan } from '../eval/plan.ts'
import { standardMacros } from '../macros/standard.ts'
import { parse } from '../parse/parser.ts'
import { types } from '../types.ts'
import { equal } from './equal.ts'
import { unlimitedMeter } from './meter.ts'
import { CelError, Double, Duration, Timestamp } from './values.ts'
import { type FieldNode, type ListRule, plainNode, type ViewNode, viewOf } from './views.ts'

interface ListCase {
  readonly testCase: { readonly name: string; readonly expression: string; readonly wantErr?: string }
  readonly skipSchemaless?: boolean
  readonly skipTyped?: boolean
  readonly skipUnstructured?: boolean
}

const [, ...lines] = readFileSync(new URL('../cases/lists-as-maps.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const cases = lines.map((line) => JSON.parse(line) as ListCase)

function list(items: ViewNode, rule: ListRule): ViewNode {
  return { kind: 'list', items, rule }
}

function object(fields: Readonly<Record<string, ViewNode | { property: string }>>): ViewNode {
  const made = new Map<string, FieldNode>()
  for (const [name, node] of Object.entries(fields)) {
    made.set(name, 'kind' in node ? { property: name, node } : { property: node.property, node: plainNode })
  }
  return { kind: 'object', typeName: 'object', fields: made }
}

const item = object({ key1: plainNode, key2: plainNode, value: plainNode })
const keyed = list(item, { kind: 'map', keys: ['key1', 'key2'] })
const set = list(plainNode, { kind: 'set' })
const atomic = list(plainNode, { kind: 'atomic' })
const root = object({
  tags: atomic,
  i32s: atomic,
  empty: atomic,
  items: list(item, { kind: 'atomic' }),
  nested: list(object({ name: plainNode, info: object({ s: plainNode }) }), { kind: 'atomic' }),
  mapList: keyed,
  ifList: list(object({ __if__: { property: 'if' }, value: plainNode }), { kind: 'map', keys: ['if'] }),
  wide: list(object({ a: plainNode, b: plainNode, value: plainNode }), { kind: 'map', keys: ['a', 'b'] }),
  tri: list(object({ a: plainNode, b: plainNode, c: plainNode, value: plainNode }), { kind: 'map', keys: ['a', 'b', 'c'] }),
  ptrList: list(object({ key: plainNode, value: plainNode }), { kind: 'map', keys: ['key'] }),
  setList: set,
  ptrSet: set,
  setOfLists: list(atomic, { kind: 'set' }),
})

const entry = (key1: string, key2: string, value: number) => ({ key1, key2, value })
const objects = {
  x: {
    tags: ['a', 'b', 'c'],
    i32s: [1, 2, 3],
    empty: [],
    items: [entry('k1v1', 'k2v1', 1), entry('lk1', 'lk2', 2)],
    nested: [{ name: 'n1', info: { s: 'one' } }],
    mapList: [entry('k1v1', 'k2v1', 1), entry('k1v2', 'k2v2', 2)],
    ifList: [
      { if: 'a', value: 1 },
      { if: 'b', value: 2 },
    ],
    wide: [{ a: 'a b', b: 'c', value: 1 }],
    tri: [
      { a: 'a', b: 'b', c: 'c', value: 1 },
      { a: 'a', b: 'b', c: 'd', value: 2 },
    ],
    ptrList: [
      { key: 'a', value: 1 },
      { key: 'b', value: 2 },
    ],
    setList: [1, 2, 3],
    ptrSet: [80, 81],
    setOfLists: [['a b', 'c'], ['x']],
  },
  y: {
    tags: ['d', 'e'],
    i32s: [30],
    items: [entry('yk1', 'yk2', 3)],
    mapList: [entry('k1v1', 'k2v1', 10), entry('k1v3', 'k2v3', 3)],
    ifList: [
      { if: 'a', value: 10 },
      { if: 'c', value: 3 },
    ],
    wide: [{ a: 'a', b: 'b c', value: 2 }],
    tri: [{ a: 'a', b: 'b', c: 'e', value: 3 }],
    ptrList: [
      { key: 'b', value: 20 },
      { key: 'c', value: 3 },
    ],
    setList: [3, 30],
    ptrSet: [81, 82],
    setOfLists: [['x'], ['y']],
  },
  z: {
    mapList: [entry('k1v3', 'k2v3', 3), entry('k1v2', 'k2v2', 2), entry('k1v1', 'k2v1', 10)],
    ifList: [
      { if: 'b', value: 2 },
      { if: 'a', value: 1 },
    ],
    wide: [
      { a: 'a', b: 'b c', value: 2 },
      { a: 'a b', b: 'c', value: 1 },
    ],
    tri: [
      { a: 'a', b: 'b', c: 'd', value: 2 },
      { a: 'a', b: 'b', c: 'c', value: 1 },
    ],
    ptrList: [
      { key: 'c', value: 3 },
      { key: 'b', value: 20 },
      { key: 'a', value: 1 },
    ],
    setList: [30, 3, 2, 1],
    ptrSet: [82, 81, 80],
    setOfLists: [['x'], ['a b', 'c']],
  },
  w: { mapList: [entry('k1v1', 'k2v1', 1), entry('k1v1', 'k2v1', 1)], setList: [1, 1, 3] },
}

function evaluate(expression: string, node: ViewNode) {
  const parsed = parse(expression, { macros: standardMacros, optionals: true, escapedFields: false })
  if (parsed.kind === 'invalid') throw new Error(parsed.issues[0]?.message)
  const planned = plan({ text: expression, expr: parsed.expr, type: types.dyn, types: new Map(), references: new Map() })
  if (planned.kind === 'refused') throw new Error(planned.message)
  const variables = Object.fromEntries(Object.entries(objects).map(([name, json]) => [name, viewOf(unlimitedMeter(), node, json)]))
  return planned.program.evaluate(variables)
}

describe('lists with a schema', () => {
  for (const { testCase, skipUnstructured } of cases.filter(({ skipTyped }) => skipTyped !== true)) {
    test(`CEL-24: ${testCase.name}${skipUnstructured === true ? ', with keys that are escaped' : ''}`, () => {
      const evaluation = evaluate(testCase.expression, root)
      if (testCase.wantErr === undefined) expect(evaluation).toMatchObject({ kind: 'value', value: true })
      else expect(evaluation).toMatchObject({ kind: 'error', message: expect.stringContaining(testCase.wantErr) })
    })
  }
})

describe('lists without a schema', () => {
  for (const { testCase } of cases.filter(({ skipSchemaless }) => skipSchemaless !== true)) {
    test(`CEL-24: ${testCase.name}`, () => {
      const evaluation = evaluate(testCase.expression, plainNode)
      if (testCase.wantErr === undefined) expect(evaluation).toMatchObject({ kind: 'value', value: true })
      else expect(evaluation).toMatchObject({ kind: 'error', message: expect.stringContaining(testCase.wantErr) })
    })
  }
})

describe('values with a schema', () => {
  test('CEL-23: formats parse strings as times, durations and bytes', () => {
    expect(viewOf(unlimitedMeter(), { kind: 'timestamp' }, '1970-01-01T00:00:01Z')).toEqual(new Timestamp(1_000_000_000n))
    expect(viewOf(unlimitedMeter(), { kind: 'date' }, '1970-01-02')).toEqual(new Timestamp(86_400_000_000_000n))
    expect(viewOf(unlimitedMeter(), { kind: 'duration' }, '2s')).toEqual(new Duration(2_000_000_000n))
    expect(viewOf(unlimitedMeter(), { kind: 'bytes' }, 'MTA=')).toEqual(Uint8Array.of(49, 48))
    expect(viewOf(unlimitedMeter(), { kind: 'bytes' }, 'MTA')).toBeInstanceOf(CelError)
  })

  test('a number of a schema is a double, and an int-or-string keeps its type', () => {
    expect(viewOf(unlimitedMeter(), { kind: 'double' }, 1)).toEqual(new Double(1))
    expect(viewOf(unlimitedMeter(), { kind: 'double' }, 1.5)).toBe(1.5)
    expect(viewOf(unlimitedMeter(), { kind: 'intOrString' }, 1)).toBe(1)
    expect(viewOf(unlimitedMeter(), { kind: 'intOrString' }, '1')).toBe('1')
    expect(viewOf(unlimitedMeter(), { kind: 'intOrString' }, true)).toBeInstanceOf(CelError)
  })

  test('CEL-25: a null field is treated as absent', () => {
    const view = viewOf(unlimitedMeter(), object({ a: plainNode, b: plainNode }), { a: null, b: 1 })
    const other = viewOf(unlimitedMeter(), object({ a: plainNode, b: plainNode }), { a: null, b: 1 })
    expect(equal(unlimitedMeter(), view, other)).toBe(true)
    expect(evaluate('has(x.tags)', object({ tags: atomic }))).toMatchObject({ value: true })
    expect(evaluate('has(w.tags)', object({ tags: atomic }))).toMatchObject({ value: false })
  })

  test('data that does not fit its schema is an error when it is read', () => {
    expect(viewOf(unlimitedMeter(), root, [])).toEqual(
      new CelError('invalid data, expected a map for the provided schema with type=object'),
    )
    expect(viewOf(unlimitedMeter(), atomic, {})).toEqual(
      new CelError('invalid data, expected an array for the provided schema with type=array'),
    )
  })
})
