import { anyStruct } from '@orch/testkit'
import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { allTypeNames, resolveStruct, resolveType } from '../../schema/resolve.ts'
import { completed, fieldsOf, unknownFields } from '../testing/random-testing.ts'

const runs = { numRuns: 12, seed: 20_220_823 }

/** kube-apiserver names fields of its ranges by their families. */
const strange = 'networking/v1alpha1.ClusterCIDR'

/** Types of objects, which are the types with metadata. */
const types = allTypeNames().filter((type) => {
  const node = resolveType(type)
  return node.kind === 'struct' && node.hasTypeMeta && !type.endsWith('List') && !type.startsWith('meta/') && type !== strange
})

test.each(types)('any %s: setting defaults twice changes nothing, errors name fields, and an unchanged update adds no errors', (type) => {
  const node = resolveStruct(type)
  const property = fc.property(fc.oneof(anyStruct(node, 'some'), anyStruct(node, 'all')), (body) => {
    const object = completed(type, body) ?? {}
    expect(completed(type, object)).toEqual(object)
    for (const part of ['main', 'status'] as const) {
      const fields = fieldsOf(type, object, part)
      expect(unknownFields(type, fields)).toEqual([])
      expect(fieldsOf(type, object, part, object).filter((field) => !fields.includes(field))).toEqual([])
    }
  })
  fc.assert(property, runs)
})
