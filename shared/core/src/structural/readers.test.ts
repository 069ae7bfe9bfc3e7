import { expect, it } from 'vitest'
import { namesOf } from '../names.ts'
import { runAtOnce } from '../steps.ts'
import { parseStructural } from './parse.ts'
import { StructuralReaders } from './readers.ts'

const schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { color: { type: 'string', enum: ['red', 'blue'] }, size: { type: 'integer', default: 1 } } },
  },
}

let parsed = 0
function createReaders(): StructuralReaders {
  return new StructuralReaders({
    schema: () => {
      parsed += 1
      return parseStructural(schema)
    },
    columns: [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }],
    selectable: ['.spec.color'],
    openApi: () => ({ kind: 'schema', name: 'com.example.v1.Widget', schema: () => schema }),
  })
}

const names = namesOf('kubernetes')

it('the readers of a custom kind answer what those of built-in kinds do', () => {
  const readers = createReaders()
  const decoded = readers.decode({ kind: 'Widget', metadata: { name: 'a' }, spec: { color: 'red' } }, { trackUnknown: true })
  if (decoded.kind !== 'decoded') throw new Error(decoded.text)
  const { object } = decoded
  expect(object['spec']).toEqual({ color: 'red', size: 1 })
  expect(readers.fieldsOf(object)).toEqual({ 'metadata.name': 'a', 'spec.color': 'red' })
  expect(readers.table.read(object, names).cells).toEqual(['a', 'red'])
  expect([...readers.shape.fields.keys()].sort()).toEqual(['apiVersion', 'kind', 'metadata', 'spec'])
  const validate = (spec: object): string[] =>
    runAtOnce(readers.validate({ body: {}, object: { spec }, part: 'main', names, isGateOn: () => true })).map(({ field }) => field)
  expect(validate({ color: 'red' })).toEqual([])
  expect(validate({ color: 'green' })).toEqual(['spec.color'])
})

it('CRD-95: what admission leaves is pruned and completed in place', () => {
  const object: Record<string, unknown> = { metadata: { name: 'a' }, spec: {}, other: 1 }
  createReaders().applyDefaults(object)
  expect(object).toEqual({ metadata: { name: 'a' }, spec: { size: 1 } })
})

it('the tree is parsed at the first question, and again after it was forgotten', () => {
  parsed = 0
  const readers = createReaders()
  expect(parsed).toBe(0)
  const first = readers.fingerprint
  expect(readers.shape).toBe(readers.shape)
  expect(parsed).toBe(1)
  readers.forget()
  expect(readers.fingerprint).toBe(first)
  expect(parsed).toBe(2)
})
