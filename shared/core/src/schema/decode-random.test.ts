import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { applyDefaults, validateObject } from '../catalogue/testing/readers-testing.ts'
import type { Node } from '../description/node.ts'
import { freezeDeeply } from '../json/freeze.ts'
import { isJsonObject } from '../json/member.ts'
import { namesOf } from '../names.ts'
import { decoderOf } from './decode.ts'
import { resolveNode, resolveType } from './resolve.ts'

const types = [
  'core/v1.Pod',
  'core/v1.Node',
  'core/v1.ResourceQuota',
  'core/v1.ReplicationController',
  'storage/v1.CSINode',
  'storage/v1.VolumeAttachment',
]

/** Bodies that mostly resemble a type, so that random ones get beyond the first field. */
function bodyOf(node: Node, depth: number): fc.Arbitrary<unknown> {
  const target = resolveNode(node)
  if (depth === 0) return fc.constant(null)
  switch (target.kind) {
    case 'struct': {
      const fields = target.fields.map(({ name, node: inner }) => [name, bodyOf(inner, depth - 1)] as const)
      return fc.record(Object.fromEntries(fields), { requiredKeys: [], noNullPrototype: true })
    }
    case 'list':
      return fc.array(bodyOf(target.items, depth - 1), { maxLength: 2 })
    case 'map':
      return fc.dictionary(fc.constantFrom('a', '__proto__', 'constructor'), bodyOf(target.values, depth - 1), { maxKeys: 2 })
    case 'string':
      return fc.constantFrom('', 'a', ...(target.values ?? []))
    case 'boolean':
      return fc.boolean()
    case 'int32':
    case 'int64':
      return fc.constantFrom(0, 1, -1)
    case 'time':
    case 'microTime':
      return fc.constantFrom(null, '2024-01-01T00:00:00Z', '2024-01-01T00:00:00.5+01:00')
    default:
      return fc.constantFrom('1', '1500m', '0.5Gi', null)
  }
}

/** The JSON text, because `toEqual` ignores the order of members. */
const textOf = (decoded: object): string => JSON.stringify(decoded)

/** Random JSON in the place of a known field. */
const brokenBody = fc.record({ metadata: fc.jsonValue(), spec: fc.jsonValue(), status: fc.jsonValue() }, { requiredKeys: [] })

test.each(types)('VAL-01: no body of a %s causes a crash, and decoding twice changes nothing', (type) => {
  const decode = decoderOf(type)
  const shaped = bodyOf(resolveType(type), 4)
  fc.assert(
    fc.property(
      fc.oneof({ weight: 4, arbitrary: shaped }, { weight: 1, arbitrary: fc.jsonValue() }, { weight: 1, arbitrary: brokenBody }),
      (body) => {
        const first = decode(body, { trackUnknown: true })
        if (first.kind === 'mismatch') {
          expect(first.message).not.toBe('')
          return
        }
        const second = decode(structuredClone(first.object), { trackUnknown: true })
        expect(second).toEqual({ kind: 'decoded', object: first.object, unknownFields: [] })
        expect(textOf(decode(body, { trackUnknown: true, sharesAll: true }))).toBe(textOf(first))
        const names = namesOf('orch')
        applyDefaults(type, first.object, names)
        const before = JSON.stringify(first.object)
        const shared = decode(first.object, { trackUnknown: false, sharesAll: true })
        expect(textOf(shared)).toBe(textOf(decode(first.object, { trackUnknown: false })))
        expect(JSON.stringify(first.object)).toBe(before)
        for (const part of ['main', 'status'] as const) {
          expect(Array.isArray(validateObject({ type, body, object: first.object, part, names }))).toBe(true)
        }
      },
    ),
    { numRuns: 150 },
  )
  expect(({} as Record<string, unknown>)['a']).toBeUndefined()
})

test.each(types)('a %s decoded beside another object equals its separate decoding, and the other object is unchanged', (type) => {
  const decode = decoderOf(type)
  const shaped = bodyOf(resolveType(type), 4)
  const objectOf = (body: unknown) => {
    const read = decode(body, { trackUnknown: false })
    return read.kind === 'decoded' ? read.object : undefined
  }
  fc.assert(
    fc.property(shaped, shaped, fc.boolean(), fc.nat(), (one, other, sharesAll, at) => {
      const known = objectOf(one)
      if (known === undefined || objectOf(other) === undefined) return
      freezeDeeply(known)
      for (const body of [other, withPartOf(known, other, at), structuredClone(known), known]) {
        const options = { trackUnknown: true, sharesAll }
        const alone = decode(structuredClone(body), options)
        expect(textOf(decode(structuredClone(body), { ...options, known }))).toBe(textOf(alone))
        expect(textOf(decode(body, { ...options, known }))).toBe(textOf(alone))
      }
      const again = decode(structuredClone(known), { trackUnknown: false, known })
      expect(again.kind === 'decoded' && again.object === known).toBe(true)
    }),
    { numRuns: 150 },
  )
})

/** The object with one member taken from another body or removed. */
function withPartOf(object: Record<string, unknown>, other: unknown, at: number): unknown {
  const names = Object.keys(object)
  const name = names[at % Math.max(1, names.length)]
  if (name === undefined) return object
  const { [name]: _dropped, ...rest } = object
  const part = isJsonObject(other) && Object.hasOwn(other, name) ? { [name]: other[name] } : {}
  return at % 2 === 0 ? { ...part, ...rest } : { ...rest, ...part }
}
