import { describe, expect, test } from 'vitest'
import { parseStructural } from '../structural/parse.ts'
import { shapeOfStructural as shapeOfParsedStructural } from '../structural/shape.ts'
import { type FieldSet, parseFieldSet } from './field-set.ts'
import { removeItems } from './prune.ts'
import { reconcileWithShape, withNamedFields } from './reconcile.ts'
import type { Shape } from './shape.ts'

function shapeOfStructural(schema: unknown): Shape {
  return shapeOfParsedStructural(parseStructural(schema))
}

const shape = shapeOfStructural({
  type: 'object',
  properties: {
    a: { type: 'string' },
    map: { type: 'object', additionalProperties: { type: 'string' } },
    set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    whole: { type: 'array', items: { type: 'string' } },
    wholeMap: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
    parts: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['id', 'kind'],
      items: {
        type: 'object',
        properties: {
          id: { type: 'integer' },
          kind: { type: 'string', default: 'x' },
          note: { type: 'string' },
          inner: { type: 'object', properties: { b: { type: 'string' } }, 'x-kubernetes-map-type': 'atomic' },
        },
      },
    },
  },
})
const set = (fields: unknown) => parseFieldSet(fields) as FieldSet

describe('a value without some paths', () => {
  test.each<[string, object, object, unknown]>([
    ['no path', {}, { a: 'x', set: ['a'] }, { a: 'x', set: ['a'] }],
    ['a field', { 'f:a': {} }, { a: 'x', map: {} }, { map: {} }],
    ['all fields', { 'f:a': {} }, { a: 'x' }, null],
    ['a key of a map', { 'f:map': { 'f:k': {} } }, { map: { k: 'x', l: 'y' } }, { map: { l: 'y' } }],
    ['all keys of a map', { 'f:map': { 'f:k': {} } }, { map: { k: 'x' } }, { map: null }],
    ['an item of a set', { 'f:set': { 'v:"a"': {} } }, { set: ['a', 'b'] }, { set: ['b'] }],
    ['all items of a set', { 'f:set': { 'v:"a"': {} } }, { set: ['a'] }, { set: null }],
    ['an item by its keys', { 'f:parts': { 'k:{"id":1,"kind":"x"}': {} } }, { parts: [{ id: 1 }, { id: 2 }] }, { parts: [{ id: 2 }] }],
    [
      'a member of an item',
      { 'f:parts': { 'k:{"id":1,"kind":"x"}': { 'f:note': {} } } },
      {
        parts: [
          { id: 1, note: 'n' },
          { id: 2, note: 'n' },
        ],
      },
      { parts: [{ id: 1 }, { id: 2, note: 'n' }] },
    ],
    ['a part of an atomic list', { 'f:whole': { 'v:"a"': {} } }, { whole: ['a'] }, { whole: null }],
    ['a part of what is no list', { 'f:set': { 'v:"a"': {} } }, { set: null }, { set: null }],
    ['a part of what is no object', { 'f:map': { 'f:k': {} } }, { map: null }, { map: null }],
    ['a part of a text', { 'f:a': { 'f:k': {} } }, { a: 'x' }, { a: 'x' }],
    ['a part of a field that the schema does not have', { 'f:nope': { 'f:k': {} } }, { nope: { k: 1 } }, { nope: { k: 1 } }],
    ['an item that goes by no step', { 'f:set': { 'v:"a"': {} } }, { set: [null, 'a'] }, { set: [null] }],
  ])('%s', (_which, fields, value, left) => {
    expect(removeItems(shape, value, set(fields))).toEqual(left)
  })
})

describe('SSA-47: a stored set under the current schema', () => {
  test.each<[string, object, object]>([
    ['an atomic list is owned whole', { 'f:whole': { 'v:"a"': {} } }, { 'f:whole': {} }],
    ['an atomic map is owned whole', { 'f:wholeMap': { 'f:k': {} } }, { 'f:wholeMap': {} }],
    [
      'an atomic struct in an item is owned whole',
      { 'f:parts': { 'k:{"id":1,"kind":"x"}': { 'f:inner': { 'f:b': {} } } } },
      { 'f:parts': { 'k:{"id":1,"kind":"x"}': { 'f:inner': {} } } },
    ],
  ])('%s', (_which, stored, today) => {
    expect(reconcileWithShape(set(stored), shape)).toEqual(set(today))
  })

  test.each<[string, object]>([
    ['parts of a set and of a map', { 'f:set': { 'v:"a"': {} }, 'f:map': { '.': {}, 'f:k': {} } }],
    ['below a text', { 'f:a': { 'f:k': {} } }],
    ['below an unknown field', { 'f:nope': { 'f:k': {} } }],
  ])('leaves %s unchanged', (_which, stored) => {
    const given = set(stored)
    expect(reconcileWithShape(given, shape)).toBe(given)
  })
})

test('declared fields on the path of a member become members, keys of maps and items do not', () => {
  const given = set({
    'f:map': { 'f:k': {} },
    'f:parts': { 'k:{"id":1,"kind":"x"}': { 'f:inner': { 'f:b': {} } } },
    'f:nope': { 'f:k': {} },
  })
  expect(withNamedFields(given, shape)).toEqual(
    set({
      'f:map': { '.': {}, 'f:k': {} },
      'f:parts': { '.': {}, 'k:{"id":1,"kind":"x"}': { 'f:inner': { '.': {}, 'f:b': {} } } },
      'f:nope': { 'f:k': {} },
    }),
  )
})
