import { expect, it } from 'vitest'
import { parseStructural, parseStructuralInSteps, SchemaInterner } from './parse.ts'

it('a parsed schema keeps its facets without its descriptions', () => {
  const schema = parseStructural({
    type: 'object',
    title: 'a title',
    description: 'many words',
    required: ['b'],
    properties: {
      b: { type: 'integer', nullable: true, default: null, minimum: 1, description: 'a number' },
      a: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    },
    'x-kubernetes-validations': [{ rule: 'self.b > 1', message: 'too small', reason: '' }],
  })
  expect(schema).toEqual({
    type: 'object',
    values: { required: ['b'] },
    properties: new Map([
      ['a', { isIntOrString: true, junctors: { anyOf: [{ type: 'integer' }, { type: 'string' }] } }],
      ['b', { type: 'integer', nullable: true, default: { value: null }, values: { minimum: 1 } }],
    ]),
    rules: [{ rule: 'self.b > 1', message: 'too small' }],
  })
  expect([...(schema.properties?.keys() ?? [])]).toEqual(['a', 'b'])
})

it('equal parts share one value, also between versions that share an interner', () => {
  const interner = new SchemaInterner()
  const name = { type: 'string', maxLength: 9 }
  const one = parseStructural(
    { type: 'object', properties: { a: { ...name, description: 'first' }, b: { ...name, description: 'second' } } },
    interner,
  )
  const other = parseStructural({ type: 'object', properties: { a: name, b: { ...name, maxLength: 8 } } }, interner)
  expect(one.properties?.get('a')).toBe(one.properties?.get('b'))
  expect(other.properties?.get('a')).toBe(one.properties?.get('a'))
  expect(other.properties?.get('b')).not.toBe(one.properties?.get('a'))
})

it('a property may have any name', () => {
  const schema = parseStructural(
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"}}}'),
  )
  expect([...(schema.properties ?? [])].map(([name, { type }]) => [name, type])).toEqual([
    ['__proto__', 'string'],
    ['constructor', 'integer'],
  ])
})

it('a large schema is parsed in steps', () => {
  const properties = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`p${index}`, { type: 'string', maxLength: index }]))
  const steps = parseStructuralInSteps({ type: 'object', properties })
  let pauses = 0
  for (let step = steps.next(); step.done !== true; step = steps.next()) pauses += 1
  expect(pauses).toBe(5)
})
