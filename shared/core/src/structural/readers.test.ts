import { expect, it } from 'vitest'
import { textAt } from '../meta/level-text.ts'
import { printFieldError } from '../meta/status.ts'
import { namesOf } from '../names.ts'
import { runAtOnce } from '../steps.ts'
import { parseStructuralInSteps } from './parse.ts'
import { StructuralReaders } from './readers.ts'

const schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { color: { type: 'string', enum: ['red', 'blue'] }, size: { type: 'integer', default: 1 } } },
  },
}

let parsed = 0
function* parts<T>(value: T): Generator<undefined, T, undefined> {
  yield
  return value
}

function createReaders(given: object = schema): StructuralReaders {
  return new StructuralReaders({
    version: 'v1',
    *schema() {
      parsed += 1
      return yield* parseStructuralInSteps(given)
    },
    columns: [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }],
    selectable: ['.spec.color'],
    openApi: () => ({ kind: 'schema', name: 'com.example.v1.Widget', schema: () => parts(schema) }),
  })
}

const names = namesOf('kubernetes')

it('readers of a custom kind give the same results as readers of built-in kinds', () => {
  const readers = createReaders()
  const decoded = readers.decode({ kind: 'Widget', metadata: { name: 'a' }, spec: { color: 'red' } }, { trackUnknown: true })
  if (decoded.kind !== 'decoded') throw new Error(decoded.text)
  const { object } = decoded
  expect(object['spec']).toEqual({ color: 'red', size: 1 })
  expect(readers.fieldsOf(object)).toEqual({ 'spec.color': 'red' })
  expect(readers.table.read(object, names).cells).toEqual(['a', 'red'])
  expect([...readers.shape.fields.keys()].sort()).toEqual(['apiVersion', 'kind', 'metadata', 'spec'])
  const validate = (spec: object): string[] =>
    runAtOnce(readers.validate({ body: {}, object: { spec }, part: 'main', names, isGateOn: () => true, level: 25 })).map(
      ({ field }) => field,
    )
  expect(validate({ color: 'red' })).toEqual([])
  expect(validate({ color: 'green' })).toEqual(['spec.color'])
})

it('CRD-95: the result of admission is pruned and completed in place', () => {
  const object: Record<string, unknown> = { metadata: { name: 'a' }, spec: {}, other: 1 }
  createReaders().applyDefaults(object)
  expect(object).toEqual({ metadata: { name: 'a' }, spec: { size: 1 } })
})

it('the schema is parsed at its first use, and again after it was dropped; its fingerprint stays', () => {
  parsed = 0
  const readers = createReaders()
  expect(parsed).toBe(0)
  const first = readers.fingerprint
  expect(readers.shape).toBe(readers.shape)
  expect(parsed).toBe(1)
  readers.forget()
  expect(readers.fingerprint).toBe(first)
  expect(parsed).toBe(1)
  expect(readers.schema.type).toBe('object')
  expect(parsed).toBe(2)
})

const ruled = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { min: { type: 'integer' }, max: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.min <= self.max', message: 'min may not be above max' }],
    },
  },
}

const place = { body: {}, part: 'main', names, level: 25 } as const

it('CRD-100 CRD-106: rules are evaluated on a valid object, and an error at an unchanged part becomes a warning', () => {
  const readers = createReaders(ruled)
  const validate = (object: Record<string, unknown>, live?: Record<string, unknown>): { errors: string[]; warnings: string[] } => {
    const warnings: string[] = []
    const warn = (text: string): number => warnings.push(text)
    const errors = runAtOnce(readers.validate({ body: {}, object, live, part: 'main', names, isGateOn: () => true, level: 25, warn }))
    return { errors: errors.map((error) => printFieldError(error, 25)), warnings }
  }
  const wrong = { spec: { min: 2, max: 1 } }
  const text = 'spec: Invalid value: "object": min may not be above max'
  expect(validate({ spec: { min: 1, max: 2 } })).toEqual({ errors: [], warnings: [] })
  expect(validate(wrong)).toEqual({ errors: [text], warnings: [] })
  expect(validate({ ...wrong, other: 1 }, wrong)).toEqual({ errors: [], warnings: [text] })
  expect(validate({ spec: { min: 'a', max: 1 } }).errors.at(-1)).toMatch(/some validation rules were not checked/)
})

it('without the gate CRDValidationRatcheting an unchanged part is checked like a changed one', () => {
  const schema = { ...ruled, properties: { ...ruled.properties, size: { type: 'integer', maximum: 1 } } }
  const wrong = { size: 2, spec: { min: 2, max: 1 } }
  const fields = (isOn: boolean, change: object = {}) =>
    runAtOnce(
      createReaders(schema).validate({ ...place, object: { ...wrong, ...change }, live: wrong, isGateOn: () => isOn, warn: () => {} }),
    ).map(({ field }) => field)
  expect(fields(true)).toEqual([])
  expect(fields(false)).toEqual(['size', 'spec'])
})

it('CEL-20: of an object’s type and metadata, its rules see only the type and the name', () => {
  const rule = (text: string): string[] => {
    const readers = createReaders({ type: 'object', 'x-kubernetes-validations': [{ rule: text }] })
    const object = { kind: 'Widget', apiVersion: 'example.com/v1', metadata: { name: 'a', labels: { a: 'b' } } }
    return runAtOnce(readers.validate({ body: {}, object, part: 'main', names, isGateOn: () => true, level: 25 })).map(({ message }) =>
      textAt(message, 25),
    )
  }
  expect(rule("self.kind == 'Widget' && self.metadata.name == 'a'")).toEqual([])
  expect(rule('has(self.metadata.labels)').join()).toContain("undefined field 'labels'")
})
