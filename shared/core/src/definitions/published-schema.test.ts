import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { encodeDefinitionsInSteps } from '../openapi/gnostic.ts'
import { runAtOnce } from '../steps.ts'
import { type Publication, publishSchemaInSteps } from './published-schema.ts'
import type { SchemaProps } from './schema-props.ts'

const publication = (version: 2 | 3): Publication => ({
  group: 'example.com',
  apiVersion: 'v1',
  kind: 'Thing',
  version,
  refTo: (type) => ({ $ref: type }),
})

const propertiesMany: SchemaProps = {
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`property${index}`, { type: 'string' }])),
}

test.each([2, 3] as const)('a schema of 30,000 properties is published for OpenAPI %i and encoded in many steps', (version) => {
  const schema: SchemaProps = { type: 'object', properties: { spec: propertiesMany } }
  const published = publishSchemaInSteps(schema, publication(version))
  let steps = 0
  let next = published.next()
  for (; next.done !== true; next = published.next()) steps += 1
  expect(steps).toBeGreaterThan(20)
  // The comparison of vitest takes longer than publishing the schema.
  const spec = (next.value['properties'] as Readonly<Record<string, SchemaProps>>)['spec']
  expect([spec?.type, isDeepStrictEqual(spec?.properties, propertiesMany.properties)]).toEqual(['object', true])
  const definitions = { Thing: { ...next.value } }
  expect([...encodeDefinitionsInSteps(definitions)].length).toBeGreaterThan(100)
})

test('CRD-150: members that OpenAPI 2 cannot express are left out, and an unchanged property is the same value', () => {
  const plain = { type: 'string', maxLength: 3 }
  const given: SchemaProps = {
    type: 'object',
    required: ['a'],
    properties: { plain, a: { type: 'string', nullable: true }, o: { oneOf: [{}] } },
  }
  const { properties, required } = runAtOnce(publishSchemaInSteps(given, { ...publication(2), isStructural: true })) as {
    properties: Record<string, unknown>
    required?: unknown
  }
  expect(properties['plain']).toBe(plain)
  expect(properties['a']).toEqual({})
  expect(properties['o']).toEqual({})
  expect(required).toBeUndefined()
})

test('CRD-150: changed parts of a schema are built again, at any depth', () => {
  const string = { type: 'string' } as const
  const same = { type: 'object', properties: { deep: { type: 'object', additionalProperties: string } } } as const
  const parts = {
    properties: { type: 'object', properties: { same, other: { type: 'string', nullable: true } } },
    items: { type: 'array', items: { type: 'object', properties: { same, other: { type: 'string', nullable: true } } } },
    values: { type: 'object', additionalProperties: { type: 'object', properties: { same, other: { type: 'string', nullable: true } } } },
    __proto__x: same,
  } satisfies Record<string, SchemaProps>
  const given: SchemaProps = { type: 'object', properties: { ...parts, ['__proto__']: { type: 'string', nullable: true } } }
  const published = runAtOnce(publishSchemaInSteps(given, { ...publication(2), isStructural: true }))
  const properties = published['properties'] as Record<string, Record<string, unknown>>
  const changed = { type: 'object', properties: { same, other: {} } }
  expect(properties['properties']).toEqual(changed)
  expect(properties['items']).toEqual({ type: 'array', items: changed })
  expect(properties['values']).toEqual({ type: 'object', additionalProperties: changed })
  expect((properties['properties']!['properties'] as Record<string, unknown>)['same']).toBe(same)
  expect(properties['__proto__x']).toBe(same)
  expect(Object.getOwnPropertyDescriptor(properties, '__proto__')?.value).toEqual({})
})
