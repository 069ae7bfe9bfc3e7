import { aDefinition } from '../../definition.ts'
import type { Attack, Heavy } from './requests.ts'

type Json = Readonly<Record<string, unknown>>

const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const spread = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index))

function definition(group: string, spec: Json): Heavy {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  const body = aDefinition({ group, plural: 'things', kind: 'Thing', scope: 'Cluster', schema })
  return { method: 'POST', path: definitions, body: JSON.stringify(body) }
}

function thing(group: string, name: string, spec: Json): Heavy {
  const object = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name }, spec }
  return { method: 'POST', path: `/apis/${group}/v1/things`, body: JSON.stringify(object) }
}

/** Schemas at the size bound of bodies, and an object of each. */
const large: readonly { readonly words: string; readonly group: string; readonly spec: () => Json; readonly object: Json }[] = [
  {
    words: '1 MB, 10,000 properties',
    group: 'wide.example.com',
    spec: () => {
      const description = 'Says how the thing is to be, in so many words.'
      const properties = Object.fromEntries(spread(10_000, (i) => [`p${i}`, { type: 'string', description, maxLength: 63 }]))
      return { type: 'object', properties }
    },
    object: { p1: 'x' },
  },
  {
    words: '30,000 bare properties',
    group: 'bare.example.com',
    spec: () => ({ type: 'object', properties: Object.fromEntries(spread(30_000, (i) => [`property${i}`, { type: 'string' }])) }),
    object: { property1: 'x' },
  },
  {
    words: '1 MB, nested',
    group: 'nested.example.com',
    spec: () => {
      const leaf = { type: 'integer', default: 1, minimum: 0, description: 'A number.' }
      const part = (i: number): Json => ({ type: 'object', properties: Object.fromEntries(spread(10, (j) => [`f${i}x${j}`, leaf])) })
      return { type: 'object', properties: Object.fromEntries(spread(1_200, (i) => [`part${i}`, { type: 'array', items: part(i) }])) }
    },
    object: { part7: [{}] },
  },
  {
    words: 'depth 490',
    group: 'deep.example.com',
    spec: () => {
      let spec: Json = { type: 'object', properties: { a: { type: 'string' } } }
      for (let depth = 0; depth < 490; depth++) spec = { type: 'object', properties: { a: spec, b: { type: 'string', default: 'x' } } }
      return spec
    },
    object: { a: { a: {} } },
  },
  {
    words: '2,000 rules',
    group: 'ruled.example.com',
    spec: () => {
      const rules = (i: number): Json[] => [
        { rule: `self.min <= self.max && self.name.startsWith('a${i}')`, message: 'min may not be above max' },
        { rule: 'self.list.all(x, x > self.min)', message: 'none may be below', messageExpression: "'none below, ' + self.name" },
      ]
      const number = { type: 'integer' }
      const members = {
        min: number,
        max: number,
        name: { type: 'string', maxLength: 9 },
        list: { type: 'array', maxItems: 3, items: number },
      }
      const part = (i: number): Json => ({ type: 'object', properties: members, 'x-kubernetes-validations': rules(i) })
      return { type: 'object', properties: Object.fromEntries(spread(1_000, (i) => [`part${i}`, part(i)])) }
    },
    object: { part7: { min: 1, max: 2, name: 'a7', list: [3] } },
  },
  {
    words: 'a rule of 100,000 characters',
    group: 'long.example.com',
    spec: () => {
      const rule = `size([${spread(14_000, () => 'self.a').join(',')}]) > 0`
      return { type: 'object', properties: { a: { type: 'integer' } }, 'x-kubernetes-validations': [{ rule }] }
    },
    object: { a: 1 },
  },
  {
    words: 'a rule of 4,000 macros',
    group: 'macros.example.com',
    spec: () => {
      const rule = spread(4_000, () => 'self.l.all(x, x > 1)').join(' && ')
      const list = { type: 'array', maxItems: 3, items: { type: 'integer' } }
      return { type: 'object', properties: { l: list }, 'x-kubernetes-validations': [{ rule }] }
    },
    object: { l: [2, 3] },
  },
]

/** Large definitions, and the parts that each is the first to load. */
export const definitionAttacks: readonly Attack[] = large.flatMap(({ words, group, spec, object }): Attack[] => {
  const called = `definition (${words})`
  const get =
    (path: string, accept = 'application/json') =>
    (): Heavy => ({ method: 'GET', path, headers: { accept } })
  return [
    { name: `${called}, dry run`, request: () => ({ ...definition(group, spec()), path: `${definitions}?dryRun=All` }) },
    { name: called, request: () => definition(group, spec()) },
    { name: `${called}, a new field`, request: () => changed(group) },
    { name: `${called}, the first list`, request: get(`/apis/${group}/v1/things`) },
    { name: `${called}, the first object`, request: () => thing(group, 'a', object) },
    { name: `${called}, an apply`, request: () => applied(group, object) },
    {
      name: `${called}, aggregated discovery`,
      request: get('/apis', 'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList'),
    },
    { name: `${called}, OpenAPI 3`, request: get(`/openapi/v3/apis/${group}/v1`) },
    { name: `${called}, OpenAPI 2`, request: get('/openapi/v2') },
  ]
})

function changed(group: string): Heavy {
  const path = '/spec/versions/0/schema/openAPIV3Schema/properties/status'
  const value = { type: 'object', properties: { phase: { type: 'string', default: 'new' } } }
  const body = JSON.stringify([{ op: 'add', path, value }])
  return { method: 'PATCH', path: `${definitions}/things.${group}`, type: 'application/json-patch+json', body }
}

function applied(group: string, spec: Json): Heavy {
  const object = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'b' }, spec }
  const path = `/apis/${group}/v1/things/b?fieldManager=m`
  return { method: 'PATCH', path, type: 'application/apply-patch+yaml', body: JSON.stringify(object) }
}
