import { createCatalogue } from '@orch/core/catalogue'
import { deprecationWarningOf, specOf } from '@orch/core/definitions'
import { namesOf } from '@orch/core/names'
import { describe, expect, test } from 'vitest'

const list = (type: string) => ({ type: 'array', 'x-kubernetes-list-type': 'set', items: { type } })
const set = (type: string): string =>
  `x-kubernetes-list-type: set for items of type "${type}" is not supported by server-side apply or CEL validation rules`

function definition(...schemas: Readonly<Record<string, unknown>>[]) {
  const versions = schemas.map((properties, index) => ({
    name: `v${index + 1}`,
    schema: { openAPIV3Schema: { type: 'object', properties } },
  }))
  return { metadata: {}, spec: { versions } }
}

const readers = createCatalogue('kubernetes').find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')?.readers

const warnings = (after: object, before?: object): readonly string[] | undefined =>
  readers?.warnings?.(after as never, before as never, namesOf('kubernetes'))

describe('CRD-27: warnings of a definition', () => {
  const unknown = { a: { type: 'string', format: 'invalidformat' } }
  test.each([
    ['known formats', [{ a: { type: 'string', format: 'date-time' }, b: { type: 'integer', format: 'int32' } }], []],
    ['a format in a version', [unknown], ['unrecognized format "invalidformat"']],
    ['a format below', [{ a: { type: 'object', properties: unknown } }], ['unrecognized format "invalidformat"']],
    ['a format of another type', [{ a: { type: 'boolean', format: 'int32' } }], ['unrecognized format "int32"']],
    [
      'several formats, in order',
      [{ b: { type: 'string', format: 'two' }, a: { type: 'array', items: { type: 'string', format: 'one' } } }],
      ['unrecognized format "one"', 'unrecognized format "two"'],
    ],
    ['a set of objects', [{ a: list('object') }], [set('object')]],
    ['sets of objects and lists', [{ a: list('object'), b: list('array'), c: list('object') }], [set('array'), set('object')]],
    ['a set of texts', [{ a: list('string') }], []],
    ['a set in the second of two versions', [{}, { a: { type: 'array', items: list('object') } }], [set('object')]],
  ])('%s', (_title, schemas, expected) => {
    expect(warnings(definition(...(schemas as never[])))).toEqual(expected)
  })
  test('what was so before is not warned of again', () => {
    const live = definition({ a: { type: 'string', format: 'one' }, b: list('object') })
    expect(warnings(live, live)).toEqual([])
    const more = definition({
      a: { type: 'string', format: 'one' },
      b: list('object'),
      c: { type: 'string', format: 'two' },
      d: list('array'),
    })
    expect(warnings(more, live)).toEqual(['unrecognized format "two"', set('array')])
  })
})

test('CRD-75: a deprecated version warns with its own text, or with one made of names', () => {
  const spec = specOf({
    spec: {
      group: 'example.com',
      names: { kind: 'Widget' },
      versions: [
        { name: 'v1', served: true },
        { name: 'v1beta1', served: true, deprecated: true },
        { name: 'v1alpha1', served: true, deprecated: true, deprecationWarning: 'gone soon' },
      ],
    },
  })
  expect(['v1', 'v1beta1', 'v1alpha1', 'v9'].map((name) => deprecationWarningOf(spec, name))).toEqual([
    undefined,
    'example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget',
    'gone soon',
    undefined,
  ])
})
