import { expect, test } from 'vitest'
import { type FieldSet, setOfPaths } from './field-set.ts'
import { trackUpdate } from './ownership.ts'
import { anyScalar, mapShape } from './shape.ts'
import { sharedSet } from './shared-sets.ts'
import { shapeOfType } from './type-shape.ts'

const fieldsOf = (...names: readonly string[]): FieldSet => setOfPaths(names.map((name) => ['f:status', `f:${name}`]))

test('MF-06: equal fields of the status of two objects share one set, and other fields have another set', () => {
  const write = (uid: string, status: object) => {
    const created = { metadata: { name: uid, uid }, spec: { replicas: 3 } }
    const common = { apiVersion: 'apps/v1', now: '2026-01-01T00:00:00Z', schema: shapeOfType('apps/v1.ReplicaSet') }
    const managedFields = trackUpdate({ ...common, before: undefined, after: created, manager: 'maker' })
    const before = { ...created, metadata: { ...created.metadata, managedFields } }
    const entries = trackUpdate({ ...common, before, after: { ...before, status }, manager: 'keeper', subresource: 'status' })
    return entries.find(({ manager }) => manager === 'keeper')?.fieldsV1
  }
  const first = write('a', { replicas: 3 })
  expect(write('b', { replicas: 2 })).toBe(first)
  expect(write('c', { replicas: 2, readyReplicas: 1 })).toEqual({ 'f:status': { '.': {}, 'f:readyReplicas': {}, 'f:replicas': {} } })
})

test('the last sixteen sets of a shape are cached, and no large sets are', () => {
  const [shape, other] = [mapShape(anyScalar, { isAtomic: false }), mapShape(anyScalar, { isAtomic: true })]
  const first = sharedSet(shape, fieldsOf('a'))
  expect(sharedSet(shape, fieldsOf('a'))).toBe(first)
  expect(sharedSet(other, fieldsOf('a'))).not.toBe(first)
  for (let index = 0; index < 16; index++) sharedSet(shape, fieldsOf(`b${index}`))
  expect(sharedSet(shape, fieldsOf('a'))).not.toBe(first)
  const large = Array.from({ length: 200 }, (_, index) => `c${index}`)
  expect(sharedSet(shape, fieldsOf(...large))).not.toBe(sharedSet(shape, fieldsOf(...large)))
})
