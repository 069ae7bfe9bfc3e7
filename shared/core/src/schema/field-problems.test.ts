import { expect, test } from 'vitest'
import { fieldProblems, inMemberOrder, withoutOwnJson } from './field-problems.ts'

test.each([
  ['nothing is wrong', [], [], undefined, []],
  ['unknown fields keep their order, each once', ['b', 'a', 'b'], [], undefined, ['unknown field "b"', 'unknown field "a"']],
  ['without a text, duplicates come first', ['a'], ['b'], undefined, ['duplicate field "b"', 'unknown field "a"']],
  [
    'by the places in the text',
    ['u', 'x.v'],
    ['x.a', 'b'],
    '{"b":1,"u":1,"x":{"a":1,"a":2,"v":1},"b":2}',
    ['unknown field "u"', 'duplicate field "x.a"', 'unknown field "x.v"', 'duplicate field "b"'],
  ],
  ['a name with a dot in it', ['u'], ['data.a.b'], '{"data":{"a.b":1,"a.b":2},"u":1}', ['duplicate field "data.a.b"', 'unknown field "u"']],
  [
    'items of a list',
    ['l[1].u'],
    ['l[0].a', 'l[1].a'],
    '{"l":[{"a":1,"a":1},{"u":1,"a":1,"a":1}]}',
    ['duplicate field "l[0].a"', 'unknown field "l[1].u"', 'duplicate field "l[1].a"'],
  ],
  [
    'what an unknown field holds is not told',
    ['u', 'v'],
    ['u', 'u.a', 'v[0].b', 'ua'],
    undefined,
    ['duplicate field "ua"', 'unknown field "u"', 'unknown field "v"'],
  ],
])('the problems of a text are as expected: %s', (_title, unknown, duplicates, text, expected) => {
  expect(fieldProblems({ unknown, duplicates, source: text === undefined ? undefined : () => text })).toEqual(expected)
})

test('at most a hundred problems are reported', () => {
  const unknown = Array.from({ length: 300 }, (_, index) => `f${index}`)
  expect(fieldProblems({ unknown, duplicates: ['a', 'b'] })).toHaveLength(100)
})

test('of a text that is read into a map, all duplicates precede the unknown fields', () => {
  const problems = {
    unknown: ['u', 'x.v'],
    duplicates: ['x.a', 'u', 'u.b'],
    source: () => '{"u":{"b":1,"b":2},"u":1,"x":{"a":1,"a":2,"v":1}}',
  }
  const duplicates = ['duplicate field "x.a"', 'duplicate field "u"', 'duplicate field "u.b"']
  expect(fieldProblems({ ...problems, isMap: true })).toEqual([...duplicates, 'unknown field "u"', 'unknown field "x.v"'])
})

test('VAL-06: duplicates within parts with their own decoder are dropped, those of the parts are not', () => {
  const schema = {
    properties: { 'a.items': {}, 'b[0]': { items: {} }, b: { enum: [0, {}], allOf: [{}, { default: {} }] } },
    additionalProperties: {},
  }
  const reported = [
    'items',
    'type',
    'properties.a.items.type',
    'properties.b.enum',
    'properties.b[0].items',
    'properties.b.allOf[1].default',
    'zzz.a',
  ]
  const inner = [
    'items.type',
    'items[3].type',
    'additionalProperties.properties.x',
    'properties.b.enum[1].a',
    'properties.b[0].items.type',
    'properties.b.allOf[1].default.a[0].b',
  ]
  expect(withoutOwnJson('apiextensions/v1.JSONSchemaProps', schema, [...inner, ...reported])).toEqual(reported)
  const owners = ['metadata.managedFields[0].fieldsV1.f:data.f:a', 'metadata.managedFields[0].manager', 'data.a', 'data']
  const revision = { metadata: { managedFields: [{}] }, data: {} }
  expect(withoutOwnJson('apps/v1.ControllerRevision', revision, owners)).toEqual(['metadata.managedFields[0].manager', 'data'])
})

test('paths in the order of sorted members compare steps, and indexes by number', () => {
  const paths = ['spec.z', 'spec.a-b.x', 'spec.l[10].a', 'spec.l[2].b', 'spec.l[2].a', 'spec.a.y', 'metadata.u']
  const sorted = ['metadata.u', 'spec.a.y', 'spec.a-b.x', 'spec.l[2].a', 'spec.l[2].b', 'spec.l[10].a', 'spec.z']
  expect(inMemberOrder(paths)).toEqual(sorted)
  expect(inMemberOrder(['a.b', 'a'])).toEqual(inMemberOrder(['a', 'a.b']))
})
