import { validateResourceDefinition } from '@orch/core/definitions'
import { namesOf } from '@orch/core/names'
import type { Steps } from '@orch/core/steps'
import { parseStructuralInSteps, StructuralReaders } from '@orch/core/structural'
import { describe, expect, test } from 'vitest'

const names = namesOf('kubernetes')
const spread = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index))

/** Runs all steps and counts them. */
function counted<T>(steps: Steps<T>): { readonly steps: number; readonly value: T } {
  for (let count = 1; ; count++) {
    const step = steps.next()
    if (step.done === true) return { steps: count, value: step.value }
  }
}

function definition(spec: object) {
  return {
    metadata: { name: 'things.example.com', uid: 'one' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
      conversion: { strategy: 'None' },
    },
    status: { storedVersions: ['v1'] },
  }
}

const leaf = { type: 'string', default: 'x', maxLength: 63 }
const wide = (count: number) => ({ type: 'object', properties: Object.fromEntries(spread(count, (i) => [`p${i}`, leaf])) })
const nested = (depth: number): object => (depth === 0 ? leaf : { type: 'object', properties: { a: nested(depth - 1), b: leaf } })
const ruled = (count: number) => {
  const rules = [{ rule: `self.min <= self.max && self.min > ${'0'.repeat(100)}1`, message: 'min may not be above max' }]
  const members = { min: { type: 'integer' }, max: { type: 'integer' } }
  const part = { type: 'object', properties: members, 'x-kubernetes-validations': rules }
  return { type: 'object', properties: Object.fromEntries(spread(count, (i) => [`part${i}`, part])) }
}

const ruledDefaults = (count: number) => {
  const part = (index: number) => ({ ...leaf, 'x-kubernetes-validations': [{ rule: `${'true && '.repeat(10)}self != '${index}'` }] })
  return { type: 'object', properties: Object.fromEntries(spread(count, (i) => [`p${i}`, part(i)])) }
}

describe('a large definition is checked in steps', () => {
  test.each([
    // Each of the six walks takes at most one step per 1,000 schemas.
    { what: '10,000 properties', spec: wide(10_000), stepsMin: 60 },
    { what: '20,000 properties', spec: wide(20_000), stepsMin: 120 },
    { what: 'one property', spec: wide(1), stepsMin: 1 },
    { what: 'depth 490', spec: nested(490), stepsMin: 5 },
    // One step compiles expressions of 4,000 characters.
    { what: '2,000 rules', spec: ruled(2_000), stepsMin: 50 },
    // The server compiles the rules twice: for their cost and for the defaults.
    { what: '500 defaults with a rule each', spec: ruledDefaults(500), stepsMin: 24 },
  ])('$what', ({ spec, stepsMin }) => {
    const { steps, value } = counted(validateResourceDefinition(definition(spec), undefined, names, { level: 25 }))
    expect(value).toEqual([])
    expect(steps).toBeGreaterThanOrEqual(stepsMin)
  })

  test('if it replaces another of 10,000 properties, which is traversed as well', () => {
    const live = definition(wide(10_000))
    const alone = counted(validateResourceDefinition(live, undefined, names, { level: 25 })).steps
    const { steps, value } = counted(validateResourceDefinition(definition(wide(10_001)), live, names, { level: 25 }))
    expect(value).toEqual([])
    expect(steps).toBeGreaterThanOrEqual(alone + 10)
  })

  test('and reports all of its 10,000 errors', () => {
    const untyped = Object.fromEntries(spread(10_000, (i) => [`p${i}`, {}]))
    const { steps, value } = counted(
      validateResourceDefinition(definition({ type: 'object', properties: untyped }), undefined, names, { level: 25 }),
    )
    expect(value).toHaveLength(10_000)
    expect(steps).toBeGreaterThanOrEqual(30)
  })

  test('and a rule of 100,000 characters is parsed, checked and planned in different steps', () => {
    const long = `size([${spread(14_000, () => 'self.a').join(',')}]) > 0`
    const of = (rule: string) => ({ type: 'object', properties: { a: { type: 'integer' } }, 'x-kubernetes-validations': [{ rule }] })
    const short = counted(validateResourceDefinition(definition(of('self.a > 0')), undefined, names, { level: 25 }))
    const { steps, value } = counted(validateResourceDefinition(definition(of(long)), undefined, names, { level: 25 }))
    expect([value, short.value]).toEqual([[], []])
    expect(steps).toBeGreaterThanOrEqual(short.steps + 4)
  })
})

function* parts<T>(value: T): Generator<undefined, T, undefined> {
  yield
  return value
}

function createReaders(spec: object): StructuralReaders {
  const schema = { type: 'object', properties: { spec } }
  return new StructuralReaders({
    version: 'v1',
    schema: () => parseStructuralInSteps(schema),
    columns: [],
    selectable: [],
    openApi: () => ({ kind: 'schema', name: 'com.example.v1.Thing', schema: () => parts(schema) }),
  })
}

describe('the readers of a custom kind', () => {
  test('are built in steps, with at most one for 1,000 schemas', () => {
    const readers = createReaders({ type: 'object', properties: { ...wide(10_000).properties, ...nested(400) } })
    expect(readers.isReady).toBe(false)
    expect(counted(readers.prepare()).steps).toBeGreaterThanOrEqual(10)
    expect(readers.isReady).toBe(true)
  })

  test('CRD-95: are built again after they were dropped, with the same results', () => {
    const readers = createReaders(ruled(3))
    const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, spec: { part1: { min: 3, max: 2 }, other: 1 } }
    const read = () => {
      const decoded = readers.decode(object, { trackUnknown: true })
      if (decoded.kind !== 'decoded') throw new Error(decoded.text)
      const errors = counted(
        readers.validate({ body: object, object: decoded.object, part: 'main', names, isGateOn: () => true, level: 25 }),
      ).value
      return { decoded, errors, fingerprint: readers.fingerprint, shape: [...readers.shape.fields.keys()] }
    }
    const before = read()
    expect(before.errors.map(({ field }) => field)).toEqual(['spec.part1'])
    expect(before.decoded.unknownFields).toEqual(['spec.other'])
    readers.forget()
    expect(readers.isReady).toBe(false)
    expect(read()).toEqual(before)
    expect(readers.isReady).toBe(true)
  })

  test('compile rules at many positions in steps', () => {
    const readers = createReaders(ruledDefaults(500))
    const object = { spec: Object.fromEntries(spread(500, (i) => [`p${i}`, 'x'])) }
    const validate = () => counted(readers.validate({ body: object, object, part: 'main', names, isGateOn: () => true, level: 25 }))
    const first = validate()
    expect(first.value).toEqual([])
    expect(first.steps).toBeGreaterThanOrEqual(10)
    expect(validate().steps).toBeLessThan(first.steps)
  })

  test('compile many rules at one position in steps', () => {
    const rules = spread(500, (i) => ({ rule: `self.min <= self.max + ${i} || self.min == ${i}` }))
    const spec = { type: 'object', properties: { min: { type: 'integer' }, max: { type: 'integer' } }, 'x-kubernetes-validations': rules }
    const readers = createReaders(spec)
    const object = { spec: { min: 1, max: 2 } }
    const validate = () => counted(readers.validate({ body: object, object, part: 'main', names, isGateOn: () => true, level: 25 }))
    const first = validate()
    expect(first.value).toEqual([])
    expect(first.steps).toBeGreaterThanOrEqual(5)
    expect(validate().steps).toBeLessThan(first.steps)
  })
})
