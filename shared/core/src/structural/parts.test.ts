import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseExactly } from '../json/parse-exactly.ts'
import { textAt } from '../meta/level-text.ts'
import type { ObjectMeta } from '../meta/object-meta.ts'
import { namesOf } from '../names.ts'
import { runAtOnce } from '../steps.ts'
import { schemaFingerprint } from '../stored/stored-object.ts'
import { validateObjectMeta } from '../validation/object-meta.ts'
import { validateValue } from './check-value.ts'
import { cellOf, createCustomTable, type PrinterColumn } from './columns.ts'
import { parseJsonPath } from './json-path.ts'
import { parseStructural } from './parse.ts'
import { createFieldTexts, fingerprintOf } from './readers.ts'
import { readScale, validateScale, withReplicas } from './scale.ts'
import { blockingError, validateCustomObject, validateListTypes } from './validate-object.ts'

/** Reads the cases of a file, whose first line states the source. */
function casesOf<T>(file: string): T[] {
  const lines = readFileSync(new URL(`cases/${file}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
  return lines.slice(1).map((line) => {
    const read = parseExactly(line)
    if (read.kind === 'malformed') throw new Error(read.problem)
    return read.value as T
  })
}

type Json = Readonly<Record<string, unknown>>

const errorsOf = (...given: Parameters<typeof validateValue>) => runAtOnce(validateValue(...given))
const errorsOfObject = (...given: Parameters<typeof validateCustomObject>) => runAtOnce(validateCustomObject(...given))

interface StatusCase {
  readonly name: string
  readonly old: Json
  readonly obj: Json
  readonly isValid: boolean
}

it('a value is found in an enum in a time that does not grow with the enum', () => {
  let read = 0
  const values = new Proxy(
    Array.from({ length: 500 }, (_, index) => ({ a: [index], b: 'x' })),
    {
      get(target, name) {
        read += 1
        return Reflect.get(target, name)
      },
    },
  )
  const schema = parseStructural({ type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, enum: values } })
  const listed = Array.from({ length: 500 }, (_, index) => ({ b: 'x', a: [index] }))
  expect(errorsOf(schema, listed)).toEqual([])
  expect(errorsOf(schema, [{ b: 'x', a: [500] }])).toHaveLength(1)
  expect(read).toBeLessThan(20_000)
})

it('CRD-106: a wrong object whose schema lacks one of its members is refused, though nothing has changed', () => {
  const schema = parseStructural({
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    maxProperties: 1,
    properties: { a: { type: 'string' }, b: { type: 'string' } },
  })
  const errorsOfUnchanged = (value: object) => errorsOf(schema, value, { value: { ...value } })
  expect(errorsOfUnchanged({ a: 'x', b: 'y' })).toEqual([])
  expect(errorsOfUnchanged({ a: 'x', c: 'y' })).toMatchObject([{ reason: 'FieldValueTooMany' }])
})

const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index))

/** A value in two hundred others. */
const nested = (value: unknown, wrap: (value: unknown) => Json): Json =>
  wrap(many(199, () => wrap).reduce((inner, one) => one(inner), value))

it('many patterns are tested in steps, with the same errors', () => {
  const names = many(150, (index) => `p${index}`)
  const properties = names.map((name, index) => [name, { anyOf: [{ pattern: `^x{9}${index}$` }, { pattern: `^(a|b${index}){0,20}$` }] }])
  const schema = parseStructural({
    type: 'object',
    properties: Object.fromEntries(properties.map(([name, more]) => [name, { type: 'string', ...(more as Json) }])),
  })
  const object = Object.fromEntries(names.map((name, index) => [name, index === 90 ? 'c' : 'ab'.repeat(index === 1 ? 1 : 0)]))
  const steps = validateValue(schema, object)
  let count = 0
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) count += 1
  expect(count).toBeGreaterThan(3)
  expect(step.value.map(({ field, message }) => `${field}: ${String(message)}`)).toEqual([
    '<nil>: Invalid value: "": "p1" must validate at least one schema (anyOf)',
    `p1: Invalid value: "ab": p1 in body should match '^x{9}1$'`,
    '<nil>: Invalid value: "": "p90" must validate at least one schema (anyOf)',
    `p90: Invalid value: "c": p90 in body should match '^x{9}90$'`,
  ])
})

it('a pattern that takes too long for a text is an error', () => {
  const text = many(3_000, (index) => index.toString(2).replaceAll('0', 'a').replaceAll('1', 'b')).join('')
  const [error] = errorsOf(parseStructural({ type: 'string', pattern: '[ab]*a[ab]{1000}c' }), text)
  expect(error?.message).toContain(`but the pattern takes too many steps for a text of ${text.length} characters`)
})

it.each<[string, Json, unknown]>([
  ['alternatives of a long list', { type: 'array', allOf: many(2_000, () => ({ items: { maxLength: 5 } })) }, many(10_000, () => 'a')],
  ['long texts', { type: 'string', allOf: many(2_000, () => ({ minLength: 1 })) }, 'a'.repeat(1_000_000)],
  [
    'errors with long texts',
    { type: 'array', items: { type: 'string', enum: many(2_000, (index) => `${index}`.repeat(200)) } },
    many(1_000, () => 'x'),
  ],
  ['errors of the same long text', { type: 'string', allOf: many(2_000, () => ({ maxLength: 3, pattern: 'b' })) }, 'a'.repeat(1_000_000)],
  ['a long list in enums', { type: 'array', anyOf: many(10, () => ({ enum: [[]] })) }, many(100_000, () => 'aaaaaaaa')],
  [
    'errors with long paths',
    nested({ type: 'array', allOf: many(10, () => ({ items: { maxLength: 1 } })) }, (of) => ({ type: 'object', properties: { a: of } })),
    nested(
      many(3_000, () => 'aa'),
      (a) => ({ a }),
    ),
  ],
  ['small errors', { type: 'array', allOf: many(2_000, () => ({ items: { maxLength: 1 } })) }, many(10_000, () => 'aa')],
])('a validation ends at its bound of work: %s', (_what, schema, value) => {
  const errors = errorsOf(parseStructural(schema), value)
  expect(errors.at(-1)).toMatchObject({ field: '<nil>', message: expect.stringContaining('validation takes more than 1,000,000 checks') })
  expect(errors.reduce((sum, { message }) => sum + textAt(message, 37).length, 0)).toBeLessThan(40_000_000)
})

const numbers = parseStructural({
  type: 'object',
  properties: { numArray: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'integer' } } },
})

it.each(casesOf<StatusCase>('cr-status-validate-update'))(
  'CRD-105 CRD-106: invalid lists may stay unchanged: $name',
  ({ old, obj, isValid }) => {
    expect(errorsOfObject(numbers, { object: obj, old, level: 25 }).length === 0).toBe(isValid)
  },
)

interface NameCase {
  readonly name: string
  readonly meta: ObjectMeta
  readonly errContains?: string
}

const named = parseStructural({
  type: 'object',
  properties: { metadata: { type: 'object', properties: { name: { type: 'string', pattern: '^[a-zA-Z]+$' } } } },
})

it.each(casesOf<NameCase>('cr-names'))('names of custom objects: $name', ({ meta, errContains }) => {
  const errors = [
    ...validateObjectMeta(meta, { isNamespaced: false, nameKind: 'subdomain', level: 25 }),
    ...errorsOf(named, { metadata: meta }),
  ]
  if (errContains === undefined) expect(errors).toEqual([])
  else expect(errors.map(({ message }) => textAt(message, 25)).join()).toContain(errContains)
})

interface CellCase {
  readonly headerType: string
  readonly value: unknown
  readonly want?: unknown
}

it.each(casesOf<CellCase>('cr-table-cells'))(
  'CRD-119: a column of type $headerType shows $value as recorded',
  ({ headerType, value, want = null }) => {
    expect(cellOf(headerType, value)).toEqual(want)
  },
)

it('CRD-119: a date is shown as an age, and an invalid date as invalid', () => {
  const cell = cellOf('date', '2026-01-01T00:00:00Z')
  expect(typeof cell === 'function' && cell(Date.parse('2026-01-01T12:00:00Z'))).toBe('12h')
  expect(cellOf('date', 'yesterday')).toBe('<invalid>')
  expect(typeof cell === 'function' && cell(Date.parse('2025-12-31T12:00:00Z'))).toBe('<invalid>')
})

interface RowCase {
  readonly name: string
  readonly fields: { readonly headers: readonly { readonly name: string; readonly type: string }[] }
  readonly args: { readonly obj: Json }
  readonly want: { readonly rows: readonly { readonly cells: readonly unknown[] }[] }
}

/** The column paths of these cases, which upstream has in its code. */
const pathsOfRows = {
  servers: ['.spec.servers[*].hosts[0]', '.spec.servers[0].hosts', '.spec.servers[1].hosts', '.spec.servers[*].hosts'],
  foo: ['.spec.foo[*].bar[0]', '.spec.foo[0].bar', '.spec.foo[1].bar', '.spec.foo[*].bar'],
}

it.each(casesOf<RowCase>('cr-table-rows'))('CRD-118 CRD-120: rows are made as recorded: $name', ({ fields, args, want }) => {
  const paths = JSON.stringify(args.obj).includes('servers') ? pathsOfRows.servers : pathsOfRows.foo
  const columns = fields.headers.slice(1).map((header, index): PrinterColumn => ({ ...header, jsonPath: paths[index] ?? '' }))
  expect(createCustomTable(columns).read(args.obj, namesOf('orch')).cells).toEqual(want.rows[0]?.cells)
})

it('CRD-117: a definition without columns shows names and ages', () => {
  const form = createCustomTable([])
  expect(JSON.parse(form.columnsJson).map(({ name, type }: { name: string; type: string }) => `${name} ${type}`)).toEqual([
    'Name string',
    'Age date',
  ])
  const [name, age] = form.read({ metadata: { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' } }, namesOf('orch')).cells
  expect([name, typeof age]).toEqual(['a', 'function'])
})

it('CRD-118: the columns of a definition end before the first one with an invalid path', () => {
  const columns = ['.spec.a', '.spec[', '.spec.b'].map(
    (jsonPath, index): PrinterColumn => ({ name: `c${index}`, type: 'string', jsonPath }),
  )
  const { columnsJson, read } = createCustomTable(columns)
  expect(JSON.parse(columnsJson).map(({ name }: { name: string }) => name)).toEqual(['Name', 'c0'])
  expect(read({ metadata: { name: 'n' }, spec: { a: 'x', b: 'y' } }, namesOf('orch')).cells).toEqual(['n', 'x'])
})

it('CRD-118: a column without a description shows its path', () => {
  const form = createCustomTable([{ name: 'Size', type: 'integer', jsonPath: '.spec.size', priority: 1 }])
  expect(JSON.parse(form.columnsJson)[1]).toEqual({
    name: 'Size',
    type: 'integer',
    format: '',
    description: 'Custom resource definition column (in JSONPath format): .spec.size',
    priority: 1,
  })
})

it.each([
  ['.a.b', [1]],
  ["$.a['b']", [1]],
  ['.missing.b', []],
  ['.list[0].n', ['x']],
  ['.list[-1].n', ['y']],
  ['.list[5].n', []],
  ['.list[*].n', ['x', 'y']],
  ['.list[0:1].n', ['x']],
  ['.list[?(@.n=="y")].v', [2]],
  ["..['n']", ['x', 'y']],
  ['..v', [1, 2]],
  ['.list[?(@.v>1)].n', ['y']],
  ['.list[?(@.w)].n', ['x']],
  [
    "['a','list']",
    [
      { b: 1 },
      [
        { n: 'x', v: 1, w: null },
        { n: 'y', v: 2 },
      ],
    ],
  ],
  ['.dotted\\.name', ['d']],
  ["$['dotted\\.name']", ['d']],
  ["$['dotted.name']", []],
  ["$['a.b']", [1]],
])('CRD-118 CRD-120: the path %s finds the recorded values', (path, expected) => {
  const object = {
    a: { b: 1 },
    list: [
      { n: 'x', v: 1, w: null },
      { n: 'y', v: 2 },
    ],
    'dotted.name': 'd',
  }
  expect(parseJsonPath(path)(object)).toEqual(expected)
})

interface SelectableCase {
  readonly name: string
  readonly selectableFields: readonly { readonly jsonPath: string }[]
  readonly obj: Json
  readonly expectFields: Json
}

it.each(casesOf<SelectableCase>('cr-selectable-fields'))(
  'selectable fields are read as recorded: $name',
  ({ selectableFields, obj, expectFields }) => {
    const metadata = Object.fromEntries(Object.entries(expectFields).filter(([label]) => label.startsWith('metadata.')))
    const texts = createFieldTexts(selectableFields.map(({ jsonPath }) => jsonPath))(obj)
    expect({ ...metadata, ...texts }).toEqual(expectFields)
  },
)

const paths = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.selector' }

it('CRD-111 CRD-113: the scale of an object is read at the paths of its definition, and replicas are written at their path', () => {
  expect(readScale({ spec: { replicas: 3 }, status: { replicas: 2, selector: 'a=b' } }, paths)).toEqual({
    specReplicas: 3,
    statusReplicas: 2,
    selector: 'a=b',
  })
  expect(readScale({}, paths)).toEqual({ specReplicas: undefined, statusReplicas: 0, selector: '' })
  expect(withReplicas({ spec: { a: 1 } }, paths, 5)).toEqual({ spec: { a: 1, replicas: 5 } })
  expect(withReplicas({}, paths, 5)).toEqual({ spec: { replicas: 5 } })
})

it.each([
  [{ spec: { replicas: -5 } }, '.spec.replicas: Invalid value: -5: should be a non-negative integer'],
  [{ status: { replicas: 2 ** 31 } }, '.status.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647'],
  [{ spec: { replicas: 'a' } }, '.spec.replicas: Invalid value: 0: .spec.replicas accessor error: a is of the type string, expected int64'],
  [
    { spec: [1, null, 'a'] },
    '.spec.replicas: Invalid value: 0: .spec.replicas accessor error: [1 <nil> a] is of the type []interface {}, expected map[string]interface{}',
  ],
  [
    { spec: 1e300 },
    '.spec.replicas: Invalid value: 0: .spec.replicas accessor error: 1e+300 is of the type float64, expected map[string]interface{}',
  ],
])('CRD-114: the scale of %j is refused', (object, text) => {
  expect(validateScale(object, paths).map(({ field, message }) => `${field}: ${message}`)).toEqual([text])
})

it('CRD-100: the members of an object with too few or too many of them are checked', () => {
  const schema = parseStructural({
    type: 'object',
    properties: {
      few: { type: 'object', minProperties: 2, required: ['a'] },
      many: { type: 'object', maxProperties: 1, additionalProperties: { type: 'string' } },
    },
  })
  const errors = errorsOf(schema, { few: {}, many: { a: 1, b: 'x' } })
  expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual([
    'few: Invalid value: 0: few in body should have at least 2 properties',
    'few.a: Required value',
    'many: Too many: 2: must have at most 1 item',
    'many.a: Invalid value: "integer": many.a in body must be of type string: "integer"',
  ])
})

it('CRD-100: after errors of types and bounds, one error reports that rules were not evaluated', () => {
  const schema = parseStructural({
    type: 'object',
    properties: { a: { type: 'string', maxLength: 1 }, b: { type: 'integer', minimum: 3 }, c: { type: 'string', enum: ['x'] } },
  })
  const fieldAt = (level: number, object: object) => blockingError(errorsOfObject(schema, { object: { ...object }, level }), level)?.field
  expect(fieldAt(25, { a: 'long' })).toBe('<nil>')
  expect(fieldAt(37, { b: 1 })).toBeUndefined()
  expect([fieldAt(28, { c: 'y' }), fieldAt(29, { c: 'y' })]).toEqual([undefined, '<nil>'])
})

const pairs = parseStructural({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['resource', 'apiGroup'],
  items: { type: 'object', properties: { resource: { type: 'string' }, apiGroup: { type: 'string' } } },
})

it.each([
  [
    [
      { resource: 'a', apiGroup: 'b' },
      { resource: 'a', apiGroup: 'b' },
    ],
    ['[1]: Duplicate value: {"apiGroup":"b","resource":"a"}'],
  ],
  [['a', {}, 'a'], ['[0]: Invalid value: "a": must be an object for an array of list-type map']],
])('CRD-105: a list by keys names repeated keys in order, and the first item that is no object: %j', (list, texts) => {
  expect(validateListTypes(pairs, list).map(({ field, message }) => `${field}: ${message}`)).toEqual(texts)
})

it('CRD-103: a duration may have other text around it, and a long number in it is read once', () => {
  const schema = parseStructural({ type: 'string', format: 'duration' })
  const isValid = (text: string): boolean => errorsOf(schema, text).length === 0
  for (const text of ['1h', 'x 3 days y', '12 x 1s', '9223372036854775807s']) expect(isValid(text)).toBe(true)
  for (const text of ['x', '3', '3 x', '1\u00a0s', '1s 9223372036854775808 x', '1'.repeat(900_000)]) expect(isValid(text)).toBe(false)
})

it('CRD-106: errors of a value that equals its old value are ignored', () => {
  const schema = parseStructural({
    type: 'object',
    properties: {
      a: { type: 'string', maxLength: 1 },
      list: { type: 'array', items: { type: 'integer', minimum: 3 } },
      kind: { type: 'string', maxLength: 1 },
    },
  })
  const old = { a: 'long', list: [1], kind: 'Long' }
  const fields = (object: Json): string[] => errorsOf(schema, object, { value: old }).map(({ field }) => field)
  expect(fields({ ...old, b: 1 })).toEqual(['kind'])
  expect(fields({ ...old, a: 'longer', kind: 'K' })).toEqual(['a'])
  expect(fields({ ...old, list: [1, 4], kind: 'K' })).toEqual(['list[0]'])
})

it('the fingerprint covers the pruning and the defaults of a version', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'array', items: { type: 'object', properties: { c: { type: 'string' } } } } },
  }
  const fingerprint = (changed: object, version = 'v1'): number => fingerprintOf(parseStructural({ ...schema, ...changed }), version)
  const same = fingerprint({})
  expect(fingerprint({ description: 'other', required: ['a'] })).toBe(same)
  expect(fingerprint({ properties: { ...schema.properties, a: { type: 'string', maxLength: 3, enum: ['x'] } } })).toBe(same)
  for (const a of [
    { type: 'string', default: 'x' },
    { type: 'string', nullable: true },
    { 'x-kubernetes-preserve-unknown-fields': true },
  ]) {
    expect(fingerprint({ properties: { ...schema.properties, a } })).not.toBe(same)
  }
  expect(fingerprint({ properties: { ...schema.properties, c: { type: 'string' } } })).not.toBe(same)
  expect(fingerprint({}, 'v2')).not.toBe(same)
  expect(same).toBeGreaterThan(schemaFingerprint)
  expect(same).toBeLessThan(2 ** 31)
})

/** The column paths and the object, which upstream has in its code besides the table. */
const columnPaths: Readonly<Record<string, string>> = {
  Age: '.metadata.creationTimestamp',
  Replicas: '.spec.replicas',
  Missing: '.spec.missing',
  Invalid: '.spec.string',
  String: '.spec.string',
  StringFloat64: '.spec.float64',
  StringInt64: '.spec.replicas',
  StringBool: '.spec.bool',
  Float64: '.spec.float64',
  Bool: '.spec.bool',
}

it('CRD-118 CRD-119: the columns of a definition follow the name', () => {
  const [name, ...columns] = casesOf<{ readonly name: string; readonly type: string }>('cr-table-columns')
  const table = createCustomTable(columns.map((column) => ({ ...column, jsonPath: columnPaths[column.name] ?? '' })))
  const described = JSON.parse(table.columnsJson) as { readonly name: string; readonly type: string }[]
  expect(described.map((column) => ({ name: column.name, type: column.type }))).toEqual([name, ...columns])
  const spec = { replicas: 7, string: 'string', float64: 2.5, bool: true }
  const { cells } = table.read({ metadata: { name: 'foo' }, spec }, namesOf('orch'))
  expect(cells.filter((_, index) => index !== 1)).toEqual(['foo', 7, null, null, 'string', '2.5', '7', 'true', 2.5, true])
})

it.each([
  [{ n: 9 }, 'status.n: Invalid value: 9: n in body should be less than or equal to 5'],
  [{ o: { n: 'b' } }, 'status.o.n: Invalid value: "b": o.n in body should match \'^a+$\''],
  [{ l: ['b'] }, 'status.l[0]: Invalid value: "b": l[0] in body should match \'^a+$\''],
  ['x', 'status: Invalid value: "string":  in body must be of type object: "string"'],
])('errors of the separately written status %j name the path below it in messages and the whole path in fields', (status, text) => {
  const a = { type: 'string', pattern: '^a+$' }
  const ofStatus = { n: { type: 'integer', maximum: 5 }, o: { type: 'object', properties: { n: a } }, l: { type: 'array', items: a } }
  const schema = parseStructural({
    type: 'object',
    properties: { spec: { type: 'string' }, status: { type: 'object', properties: ofStatus } },
  })
  const errors = errorsOfObject(schema, { object: { spec: 5, status }, part: 'status', level: 25 })
  expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual([text])
  expect(errorsOfObject(schema, { object: { spec: 5 }, part: 'status', level: 25 })).toEqual([])
  expect(errorsOfObject(schema, { object: { status }, old: { status }, part: 'status', level: 25 })).toEqual([])
})
