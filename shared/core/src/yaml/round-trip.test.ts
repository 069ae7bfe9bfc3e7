import { anyOfType } from '@orch/testkit'
import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { decodeJson, printJson } from '../json/index.ts'
import { allTypeNames, decoderOf, resolveType } from '../schema/index.ts'
import { parseYaml, printYaml } from './index.ts'

const types = allTypeNames().filter((name) => {
  const node = resolveType(name)
  return node.kind === 'struct' && node.hasTypeMeta && !name.endsWith('List')
})

/** The stored form of a value. */
function stored(type: string, value: unknown): unknown {
  const decoded = decoderOf(type)(value, { trackUnknown: false })
  if (decoded.kind === 'mismatch') throw new Error(decoded.message)
  return decoded.object
}

function throughYaml(value: unknown): unknown {
  const parsed = parseYaml(printYaml(value))
  if (parsed.kind === 'malformed') throw new Error(parsed.message)
  return parsed.value
}

test.each(types)('NEG-10: any %s is unchanged after YAML', (type) => {
  fc.assert(
    fc.property(fc.oneof(anyOfType(type, 'some'), anyOfType(type, 'all')), (value) => {
      const object = stored(type, value)
      // A floating-point field may hold a whole number, which beyond 2^53 is first parsed as an integer.
      expect(stored(type, throughYaml(object))).toEqual(object)
    }),
    { numRuns: 15 },
  )
})

test('NEG-10: 64-bit integers and empty maps are unchanged after YAML, and after JSON', () => {
  const object = { least: -(2n ** 63n), most: 2n ** 63n - 1n, safe: 2 ** 53 - 1, none: {}, list: [], text: '9223372036854775807', no: 'no' }
  expect(throughYaml(object)).toEqual(object)
  const json = decodeJson(printJson(object, { hasBigIntegers: true }))
  expect(json).toMatchObject({ kind: 'json', hasBigIntegers: true, value: object })
})
