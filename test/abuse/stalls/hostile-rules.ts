import { aDefinition } from '../../definition.ts'
import type { Attack, Heavy } from './requests.ts'

type Json = Readonly<Record<string, unknown>>

/** A harmful definition or object, and its answer. */
export interface HostileRule {
  readonly name: string
  readonly group: string
  /** The schema of `spec`. */
  readonly schema: () => Json
  readonly code: number
  /** A text in the answer. */
  readonly message?: string
  /** Absent: the request sends the definition itself. */
  readonly object?: () => Json
}

const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const spread = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index))
const rules = (...texts: readonly string[]): Json => ({ 'x-kubernetes-validations': texts.map((rule) => ({ rule })) })
const integer = { type: 'integer' }
const numbers = (maxItems: number): Json => ({ type: 'array', maxItems, items: integer })
const object = (properties: Json, more: Json = {}): Json => ({ type: 'object', properties, ...more })
const amounts = { type: 'object', maxProperties: 35_000, additionalProperties: integer }
const map = (size: number): Json => Object.fromEntries(spread(size, (key) => [`key${key}`, key]))
const long = (maxLength: number): Json => ({ type: 'string', maxLength })
const overBudget = 'operation cancelled: actual cost limit exceeded'

/** A rule for an object whose parts are as large as the schema allows. */
const loop = (rule: string): Json => rules(`self.n.all(i, ${rule})`)
const keyed = {
  type: 'array',
  maxItems: 5_000,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: object({ name: long(20) }, { required: ['name'] }),
}
const names = spread(5_000, (index) => ({ name: `name-${index}` }))

/** Definitions and objects that stop or end a server that does not check them. */
export const hostileRules: readonly HostileRule[] = [
  {
    name: 'a schema that refers to itself',
    group: 'circle.example.com',
    schema: () => ({ $ref: '#/definitions/spec' }),
    code: 422,
    message: 'spec.validation.openAPIV3Schema.properties[spec].$ref: Forbidden: $ref is not supported',
  },
  {
    name: 'a pattern with a look-ahead',
    group: 'ahead.example.com',
    schema: () => object({ a: { type: 'string', pattern: '(?=a)b' } }),
    code: 422,
    message: 'invalid or unsupported Perl syntax',
  },
  {
    name: 'a pattern on which back-tracking explodes',
    group: 'pattern.example.com',
    schema: () => object({ a: { type: 'string', pattern: '^(a+)+$' } }),
    object: () => ({ a: `${'a'.repeat(200_000)}!` }),
    code: 422,
    message: "should match '^(a+)+$'",
  },
  {
    name: 'a rule with such a pattern',
    group: 'matches.example.com',
    schema: () => object({ a: long(200_000) }, rules("self.a.matches('^(a|aa)+$')")),
    object: () => ({ a: `${'a'.repeat(199_999)}!` }),
    code: 422,
    message: 'failed rule: self.a.matches',
  },
  {
    name: 'a rule whose estimate is above the limit',
    group: 'estimate.example.com',
    schema: () => object({ n: numbers(100_000) }, loop('self.n.all(j, i != j)')),
    code: 422,
    message: 'estimated rule cost exceeds budget by factor of',
  },
  {
    name: 'a rule that runs out of its budget',
    group: 'cost.example.com',
    schema: () => object({ n: numbers(1_200) }, loop('self.n.all(j, true)')),
    object: () => ({ n: spread(1_200, (index) => index) }),
    code: 422,
    message: overBudget,
  },
  {
    name: 'rules that run out of the budget of an object',
    group: 'costs.example.com',
    schema: () => object({ n: numbers(500) }, rules(...spread(14, (index) => `self.n.all(i, self.n.all(j, i + ${index} >= 0))`))),
    object: () => ({ n: spread(350, (index) => index) }),
    code: 422,
    message: 'validation failed due to running out of cost budget, no further validation rules will be run',
  },
  {
    name: 'equal maps of 12,000 entries in a loop',
    group: 'maps.example.com',
    schema: () => object({ n: numbers(300), a: amounts, b: amounts }, loop('self.a == self.b')),
    object: () => ({ n: spread(300, (index) => index), a: map(12_000), b: map(12_000) }),
    code: 201,
  },
  {
    name: 'lists with keys that are merged in a loop',
    group: 'merged.example.com',
    schema: () => object({ n: numbers(10_000), l: keyed }, loop('(self.l + self.l).size() > 0')),
    object: () => ({ n: spread(10_000, (index) => index), l: names }),
    code: 422,
    message: overBudget,
  },
  {
    name: 'long texts that are read as numbers in a loop',
    group: 'double.example.com',
    schema: () => object({ n: numbers(50_000), t: long(1_000_000) }, loop('double(self.t) > 0.0')),
    object: () => ({ n: spread(50_000, (index) => index), t: '9'.repeat(1_000_000) }),
    code: 422,
    message: overBudget,
  },
  {
    name: 'long texts that are formatted in a loop',
    group: 'format.example.com',
    schema: () => object({ n: numbers(30_000), t: long(1_000_000) }, loop("'%s'.format([self.t]) != ''")),
    object: () => ({ n: spread(30_000, (index) => index), t: '9'.repeat(1_000_000) }),
    code: 422,
    message: overBudget,
  },
]

/** The definition of a row. */
export function definitionOf({ group, schema }: HostileRule): Heavy {
  const body = aDefinition({
    group,
    plural: 'things',
    kind: 'Thing',
    scope: 'Cluster',
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema() } } },
  })
  return { method: 'POST', path: definitions, body: JSON.stringify(body) }
}

/** The request of a row: the object or the definition itself. */
export function requestOf(rule: HostileRule): Heavy {
  if (rule.object === undefined) return definitionOf(rule)
  const body = { apiVersion: `${rule.group}/v1`, kind: 'Thing', metadata: { name: 'a' }, spec: rule.object() }
  return { method: 'POST', path: `/apis/${rule.group}/v1/things`, body: JSON.stringify(body) }
}

/** The same for `npm run abuse`. */
export const ruleAttacks: readonly Attack[] = hostileRules.map((rule) => ({
  name: rule.name,
  ...(rule.object !== undefined && { before: () => [definitionOf(rule)] }),
  request: () => requestOf(rule),
}))
