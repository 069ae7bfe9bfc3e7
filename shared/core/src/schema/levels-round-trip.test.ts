import { isDeepStrictEqual } from 'node:util'
import { anyOfType } from '@orch/testkit'
import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { byteFieldsOf } from '../cbor/byte-fields.ts'
import { jsonToCbor } from '../cbor/encode.ts'
import { cborToJson } from '../cbor/to-json.ts'
import type { Node } from '../description/node.ts'
import { knownReleases } from '../gate-releases.ts'
import { printJson } from '../json/print.ts'
import { decodeJson } from '../json/scan.ts'
import { decodeProtobuf } from '../protobuf/decode.ts'
import { encodeProtobuf, hasProtobuf } from '../protobuf/encode.ts'
import { parseYaml } from '../yaml/parse.ts'
import { printYaml } from '../yaml/print.ts'
import { decoderOf } from './decode.ts'
import { hasTypeAt, resolveNode, resolveType, typeNameAt, typeNamesAt } from './resolve.ts'

const levels = Array.from({ length: knownReleases.newest - 24 }, (_, index) => 25 + index)

/** Types that may be a body, each with the levels at which it changes. */
const types = [...new Set(levels.flatMap((level) => typeNamesAt(level)))].flatMap((name) => {
  const there = levels.filter((level) => hasTypeAt(name, level))
  const node = there.length === 0 ? undefined : resolveType(typeNameAt(name, there[0]!))
  if (node?.kind !== 'struct' || !node.hasTypeMeta || name.endsWith('List')) return []
  const distinct = [...new Map(there.map((level) => [typeNameAt(name, level), level]))]
  return [[name, distinct] as const]
})

test('every top-level type is covered', () => {
  expect(types.length).toBeGreaterThan(150)
})

test.each(types)('a %s with every field of a level is unchanged after JSON, YAML, Protobuf and CBOR', (_name, distinct) => {
  for (const [type] of distinct) {
    const object = read(type, fullValue(type))
    const json = printJson(object, { hasBigIntegers: true })
    expectSame(read(type, fromJson(json)), object)
    const throughCbor = textOfCbor(jsonToCbor(Buffer.from(json), byteFieldsOf(type)))
    if (throughCbor !== json) expectSame(read(type, fromJson(throughCbor)), object)
    if (hasProtobuf(type)) expectSame(read(type, fromProtobuf(type, encodeProtobuf(type, object))), object)
  }
  const [newest] = distinct.at(-1)!
  const object = read(newest, fullValue(newest))
  expectSame(read(newest, fromYaml(printYaml(object))), object)
})

test.each(types)('fields of a %s that a level lacks are reported and dropped', (_name, distinct) => {
  for (const value of [fullValue(distinct[0]![0]), fullValue(distinct.at(-1)![0])]) {
    for (const [type] of distinct) {
      const absent: string[] = []
      const kept = without(resolveType(type), value, '', absent)
      const decoded = decoderOf(type)(value, { trackUnknown: true })
      if (decoded.kind === 'mismatch') throw new Error(`${type}: ${decoded.message}`)
      expect(decoded.unknownFields).toEqual(absent.slice(0, namedMax))
      expectSame(decoded.object, read(type, kept))
    }
  }
})

/** Compares large objects. The comparison of vitest takes longer than reading them. */
function expectSame(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected)
}

/** Maximum number of unknown fields to report. */
const namedMax = 100

const fullValues = new Map<string, unknown>()

function fullValue(type: string): unknown {
  const known = fullValues.get(type)
  if (known !== undefined) return known
  const [value] = fc.sample(anyOfType(type, 'all'), { numRuns: 1, seed: 1 })
  fullValues.set(type, value)
  return value
}

function read(type: string, value: unknown): Record<string, unknown> {
  const decoded = decoderOf(type)(value, { trackUnknown: true })
  if (decoded.kind === 'mismatch') throw new Error(`${type}: ${decoded.message}`)
  expect(decoded.unknownFields).toEqual([])
  return decoded.object
}

function fromJson(text: string): unknown {
  const decoded = decodeJson(Buffer.from(text))
  if (decoded.kind === 'malformed') throw new Error(decoded.message)
  return decoded.value
}

function textOfCbor(bytes: Uint8Array): string {
  const reading = cborToJson(bytes, { valuesMax: Number.POSITIVE_INFINITY })
  if (reading.kind !== 'json') throw new Error(reading.kind)
  return reading.text
}

function fromYaml(text: string): unknown {
  const parsed = parseYaml(text)
  if (parsed.kind === 'malformed') throw new Error(parsed.message)
  return parsed.value
}

function fromProtobuf(type: string, bytes: Uint8Array): unknown {
  const decoded = decodeProtobuf(type, bytes)
  if (decoded.kind === 'malformed') throw new Error(decoded.message)
  return decoded.object
}

/** Removes unknown members and records their paths, independently of the code under test. */
function without(node: Node, value: unknown, path: string, absent: string[]): unknown {
  const type = resolveNode(node)
  if (typeof value !== 'object' || value === null) return value
  switch (type.kind) {
    case 'struct': {
      const kept: Record<string, unknown> = {}
      for (const [name, member] of Object.entries(value)) {
        const inner = path === '' ? name : `${path}.${name}`
        const field = type.fields.find((one) => one.name === name)
        if (field !== undefined) kept[name] = without(field.node, member, inner, absent)
        else if (type.hasTypeMeta && (name === 'kind' || name === 'apiVersion')) kept[name] = member
        else absent.push(inner)
      }
      return kept
    }
    case 'list':
      return (value as unknown[]).map((item, index) => without(type.items, item, `${path}[${index}]`, absent))
    case 'map':
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, without(type.values, item, `${path}.${key}`, absent)]))
    case 'variant':
      return without(Array.isArray(value) && type.array !== undefined ? type.array.node : type.object.node, value, path, absent)
    default:
      return value
  }
}
