import { anyOfType } from '@orch/testkit'
import { fc } from '@orch/testkit/chance'
import { describe, expect, test } from 'vitest'
import { packages } from '../api/packages.ts'
import { createCatalogue } from '../catalogue/catalogue.ts'
import type { Node } from '../description/node.ts'
import { structDepthMax } from '../description/node.ts'
import { knownReleases } from '../gate-releases.ts'
import { namesOf } from '../names.ts'
import { decoderOf } from '../schema/decode.ts'
import { allTypeNames, packageOf, resolveNode, resolveStruct, resolveType, typeNameAt } from '../schema/resolve.ts'
import { decodeProtobuf } from './decode.ts'
import { encodeProtobuf, encodeProtobufItem, encodeProtobufItems, hasProtobuf } from './encode.ts'
import { parseEnvelope, printEnvelope, printProtobuf } from './envelope.ts'
import { printProtobufEvent } from './event.ts'
import { messageOfItem, printProtobufListFrame } from './list.ts'

const names = namesOf('orch')
const catalogue = createCatalogue('orch')
/** Every type that may be a body. */
const rootTypes = allTypeNames().filter((name) => {
  const node = resolveType(name)
  return node.kind === 'struct' && node.hasTypeMeta && hasProtobuf(name)
})
const types = rootTypes.filter((name) => !name.endsWith('List'))
/** Types of packages added after the oldest level, as of the newest level. */
const newTypes = types
  .filter((name) => packages[packageOf(name)]?.since !== undefined)
  .map((name) => typeNameAt(name, knownReleases.newest))

describe('messages', () => {
  test.each(types)('PROTO-09: keep any %s unchanged', (type) => {
    fc.assert(
      fc.property(anyOfType(type, 'some'), (value) => expectRoundTrip(type, value)),
      { numRuns: 10 },
    )
  })

  test.each([...types, ...newTypes])('PROTO-09: keep a %s with every field set unchanged', (type) => {
    fc.assert(
      fc.property(anyOfType(type, 'all'), (value) => expectRoundTrip(type, value)),
      { numRuns: 2 },
    )
  })

  test('PROTO-09: cover every field of all types in these tests', () => {
    const seen = new Set<string>()
    for (const type of rootTypes) {
      const [value] = fc.sample(anyOfType(type, 'all'), { numRuns: 1, seed: 1 })
      markFields(resolveStruct(type), value, seen)
    }
    const all = new Set<string>()
    for (const type of rootTypes) collectFields(resolveStruct(type), all, new Set())
    expect([...all].filter((name) => !seen.has(name))).toEqual([])
    expect(seen.size).toBeGreaterThanOrEqual(2148)
  })

  test('PROTO-06: contain a ConfigMap with its empty plain fields, and its maps sorted by key', () => {
    const metadata = { name: 'a', uid: 'u', creationTimestamp: '2026-01-02T03:04:05Z' }
    const object = { metadata, data: { k: 'é', b: '' }, binaryData: { x: 'AwQ=' } }
    const bytes = message(
      field(1, message(text(1, 'a'), text(2, ''), text(3, ''), text(4, ''), text(5, 'u'), text(6, ''), [0x38, 0], field(8, instant))),
      field(2, message(text(1, 'b'), text(2, ''))),
      field(2, message(text(1, 'k'), [0x12, 2, 0xc3, 0xa9])),
      field(3, message(text(1, 'x'), field(2, [3, 4]))),
    )
    expect(encodeProtobuf('core/v1.ConfigMap', object)).toEqual(bytes)
    expect(decode('core/v1.ConfigMap', bytes)).toMatchObject(object)
  })

  test('PROTO-06: keep the microseconds of a Lease, and omit unset pointers', () => {
    const object = { metadata: { name: 'a' }, spec: { leaseDurationSeconds: 0, renewTime: '2026-01-02T03:04:05.000006Z' } }
    const metadata = message(text(1, 'a'), text(2, ''), text(3, ''), text(4, ''), text(5, ''), text(6, ''), [0x38, 0], field(8, []))
    const renewTime = [...instant.slice(0, -1), 0xf0, 0x2e]
    const bytes = message(field(1, metadata), field(2, message([0x10, 0], field(4, renewTime))))
    expect(encodeProtobuf('coordination/v1.Lease', object)).toEqual(bytes)
    expect(normalise('coordination/v1.Lease', decode('coordination/v1.Lease', bytes))).toMatchObject(object)
  })

  test('PROTO-06: contain ports by number and by name, and fields that only JSON inlines', () => {
    const byNumber = { httpGet: { port: 80 }, periodSeconds: -1 }
    const httpGet = (port: number[]): number[] => message(text(1, ''), field(2, port), text(3, ''), text(4, ''))
    const intVal = message([8, 0, 0x10, 80], text(3, ''))
    const rest = [0x10, 0, 0x18, 0, 0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x28, 0, 0x30, 0]
    const bytes = message(field(1, field(2, httpGet(intVal))), rest)
    expect(encodeProtobuf('core/v1.Probe', byNumber)).toEqual(bytes)
    expect(decode('core/v1.Probe', bytes)).toMatchObject(byNumber)
    const strVal = message([8, 1, 0x10, 0], text(3, 'web'))
    const named = field(1, field(2, httpGet(strVal)))
    expect(decode('core/v1.Probe', Uint8Array.from(named))).toMatchObject({ httpGet: { port: 'web' } })
  })

  test('owned fields that are not JSON are read as text, which is no set of fields', () => {
    const text = '{"f:a":{}}{"trailing":"data"}'
    const bytes = Buffer.concat([Buffer.from([0x3a, text.length + 2, 0x0a, text.length]), Buffer.from(text)])
    expect(decode('meta/v1.ManagedFieldsEntry', bytes)['fieldsV1']).toBe(text)
    expect(decode('meta/v1.ManagedFieldsEntry', Uint8Array.of(0x3a, 0))['fieldsV1']).toBe('')
    expect(decode('meta/v1.ManagedFieldsEntry', Uint8Array.of(0x3a, 2, 0x0a, 0))['fieldsV1']).toBe('')
    expect(decode('meta/v1.ManagedFieldsEntry', new Uint8Array())).not.toHaveProperty('fieldsV1')
  })

  test('PROTO-06: keep 64-bit integers exact', () => {
    for (const generation of [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n, Number.MAX_SAFE_INTEGER, -1, -(2 ** 31) - 1, 2 ** 32]) {
      const bytes = encodeProtobuf('meta/v1.ObjectMeta', { generation })
      expect(decode('meta/v1.ObjectMeta', bytes)['generation']).toBe(generation)
    }
  })

  test('PROTO-06: keep large integers of a raw value exact', () => {
    const data = { a: [2n ** 60n, { b: null }] }
    const bytes = encodeProtobuf('apps/v1.ControllerRevision', { data, revision: 1 })
    expect(decode('apps/v1.ControllerRevision', bytes)['data']).toEqual(data)
  })

  test('may arrive in parts, out of order, with packed numbers and unknown fields', () => {
    const fixed32 = [...varint(901 * 8 + 5), 1, 2, 3, 4]
    const fixed64 = [...varint(902 * 8 + 1), 1, 2, 3, 4, 5, 6, 7, 8]
    const securityContext = [...field(4, [5, 6]), 0x20, 7, ...text(900, 'unknown'), ...fixed32, ...fixed64]
    const bytes = [...field(14, securityContext), ...text(10, 'node'), ...field(14, [0x10, 1])]
    expect(decode('core/v1.PodSpec', Uint8Array.from(bytes))).toEqual({
      nodeName: 'node',
      securityContext: { supplementalGroups: [5, 6, 7], runAsUser: 1 },
    })
  })

  test('treat a key called __proto__ like any other', () => {
    const object = JSON.parse('{"data":{"__proto__":"x"}}') as object
    const read = decode('core/v1.ConfigMap', encodeProtobuf('core/v1.ConfigMap', object))
    expect(JSON.stringify(read['data'])).toBe('{"__proto__":"x"}')
  })

  test('do not exist for a Table', () => {
    expect(hasProtobuf('meta/v1.Table')).toBe(false)
    expect(hasProtobuf('meta/v1.Status')).toBe(true)
    expect(() => encodeProtobuf('meta/v1.Table', {})).toThrow('no form in Protobuf')
    expect(decodeProtobuf('meta/v1.Table', new Uint8Array(0))).toMatchObject({ kind: 'malformed' })
  })
})

describe('invalid messages', () => {
  test.each([
    ['a length beyond the end', [0x0a, 5, 1], 'ends too early'],
    ['a number without its end', [0x0a], 'ends too early'],
    ['a number of eleven bytes', [0x0a, ...new Array<number>(10).fill(0xff), 1], 'longer than 10 bytes'],
    ['a length of four gigabytes', [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f], 'ends too early'],
    ['field number 0', [0x00, 0], 'not allowed'],
    ['a group', [0xfb, 0x01], 'wire type 3'],
    ['the wrong wire type', [0x08, 1], 'field metadata has the wire type 0 instead of 2'],
  ])('such as %s are refused', (_, bytes, message) => {
    expect(decodeProtobuf('core/v1.ConfigMap', Uint8Array.from(bytes))).toEqual({
      kind: 'malformed',
      message: expect.stringContaining(message),
    })
  })

  test('with invalid UTF-8 get U+FFFD for each wrong byte', () => {
    const bytes = Uint8Array.from(field(2, [0x0a, 2, 0x61, 0xff, 0x12, 2, 0xe2, 0x82]))
    expect(decodeProtobuf('core/v1.ConfigMap', bytes)).toMatchObject({ object: { data: { 'a\ufffd': '\ufffd\ufffd' } } })
  })

  test('with raw JSON must contain valid JSON', () => {
    const bytes = Uint8Array.from(field(2, text(1, '{')))
    expect(decodeProtobuf('apps/v1.ControllerRevision', bytes)).toMatchObject({
      kind: 'malformed',
      message: expect.stringContaining('not JSON'),
    })
  })

  test('have a bound of nesting', () => {
    const nest = (levels: number): Uint8Array => {
      let bytes: number[] = []
      for (let level = 0; level < levels; level++) bytes = field(26, bytes)
      return Uint8Array.from(bytes)
    }
    expect(decodeProtobuf('apiextensions/v1.JSONSchemaProps', nest(structDepthMax))).toMatchObject({ kind: 'decoded' })
    expect(decodeProtobuf('apiextensions/v1.JSONSchemaProps', nest(structDepthMax + 1))).toMatchObject({ kind: 'malformed' })
  })

  test('of random bytes give a value or an error, without a crash', () => {
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.uint8Array({ maxLength: 64 }), (type, bytes) => {
        expect(['decoded', 'malformed']).toContain(decodeProtobuf(type, bytes).kind)
        expect(['envelope', 'malformed']).toContain(parseEnvelope(Uint8Array.of(0x6b, 0x38, 0x73, 0, ...bytes), names).kind)
      }),
      { numRuns: 2000 },
    )
  })

  test('that were cut or changed give a value or an error, without a crash', () => {
    const [pod] = fc.sample(anyOfType('core/v1.Pod', 'some'), { numRuns: 1, seed: 7 })
    const bytes = encodeProtobuf('core/v1.Pod', normalise('core/v1.Pod', pod))
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), (at, byte) => {
        expect(['decoded', 'malformed']).toContain(decodeProtobuf('core/v1.Pod', bytes.subarray(0, at)).kind)
        expect(['decoded', 'malformed']).toContain(decodeProtobuf('core/v1.Pod', bytes.with(at, byte)).kind)
      }),
    )
  })
})

describe('the envelope', () => {
  const raw = Uint8Array.of(1, 2, 3)
  const typeMeta = field(1, message(text(1, 'v1'), text(2, 'Pod')))
  const magic = [0x6b, 0x38, 0x73, 0x00]

  test('PROTO-01, PROTO-02, PROTO-03, PROTO-04: has the magic, the type, the message, and two empty strings', () => {
    const bytes = message(magic, typeMeta, field(2, [...raw]), text(3, ''), text(4, ''))
    expect(printEnvelope({ apiVersion: 'v1', kind: 'Pod', raw })).toEqual(bytes)
    expect(parseEnvelope(bytes, names)).toEqual({ kind: 'envelope', envelope: { apiVersion: 'v1', kind: 'Pod', raw } })
  })

  test('PROTO-05: has apiVersion and kind of the JSON', () => {
    const apiVersion = 'storage.orch.io/v1'
    const body = printProtobuf({ apiVersion, kind: 'CSINode', type: 'storage/v1.CSINode', object: { metadata: { name: 'n' } } })
    expect(parseEnvelope(body, names)).toMatchObject({ envelope: { apiVersion, kind: 'CSINode' } })
  })

  test('printed in one step equals the message in an envelope', () => {
    const object = { metadata: { name: 'a' }, data: { k: 'x'.repeat(100_000), long: 'ö'.repeat(70_000) } }
    const envelope = printEnvelope({ apiVersion: 'v1', kind: 'ConfigMap', raw: encodeProtobuf('core/v1.ConfigMap', object) })
    expect(printProtobuf({ apiVersion: 'v1', kind: 'ConfigMap', type: 'core/v1.ConfigMap', object })).toEqual(envelope)
  })

  test('PROTO-08: accepts only the content type of Protobuf', () => {
    const named = (contentType: string): Uint8Array => message(magic, typeMeta, field(2, [...raw]), text(4, contentType))
    expect(parseEnvelope(named(names.protobufMediaType), names)).toMatchObject({ kind: 'envelope' })
    expect(parseEnvelope(named('application/json'), names)).toMatchObject({ kind: 'malformed' })
  })

  test.each([
    ['PROTO-01: another magic', [0x6b, 0x38, 0x73, 0x01]],
    ['PROTO-01: nothing', []],
    ['PROTO-07: an encoding', [...magic, ...typeMeta, ...text(3, 'gzip')]],
    ['PROTO-02: a cut envelope', [...magic, 0x0a, 9, 1]],
  ])('refuses %s', (_, bytes) => {
    expect(parseEnvelope(Uint8Array.from(bytes), names)).toMatchObject({ kind: 'malformed' })
  })
})

describe('lists and events', () => {
  test('PROTO-06: encoded from ready items equal lists encoded whole', () => {
    const items = ['a', 'b'].map((name) => ({ metadata: { name }, data: { name } }))
    const metadata = { resourceVersion: '7', continue: 'next', remainingItemCount: 3 }
    const parts = items.map((item) => encodeProtobufItem('core/v1.ConfigMap', item))
    const itemsBytes = parts.reduce((sum, { length }) => sum + length, 0)
    const { front, back } = printProtobufListFrame({ apiVersion: 'v1', kind: 'ConfigMapList', metadata, itemsBytes })
    const whole = { apiVersion: 'v1', kind: 'ConfigMapList', type: 'core/v1.ConfigMapList', object: { metadata, items } }
    expect(message([...front], ...parts.map((part) => [...part]), [...back])).toEqual(printProtobuf(whole))
    expect(parts.map(messageOfItem)).toEqual(items.map((item) => encodeProtobuf('core/v1.ConfigMap', item)))
  })

  test('encoded in one step equal items encoded one by one, in order', () => {
    const objects = Array.from({ length: 50 }, (_, index) => ({ metadata: { name: `n${index}` }, data: { text: 'x'.repeat(index * 100) } }))
    const items = encodeProtobufItems('core/v1.ConfigMap', objects)
    expect(items).toEqual(objects.map((object) => encodeProtobufItem('core/v1.ConfigMap', object)))
    expect(new Set(items.map(({ buffer }) => buffer)).size).toBe(1)
    expect(encodeProtobufItems('core/v1.ConfigMap', [])).toEqual([])
  })

  test('have list metadata in field 1 and items in field 2', () => {
    for (const { type } of catalogue.resources.filter(({ verbs }) => verbs.includes('list'))) {
      const places = resolveStruct(`${type}List`).fields.map(({ name, tag }) => [name, tag])
      expect(places).toEqual(
        expect.arrayContaining([
          ['metadata', 1],
          ['items', 2],
        ]),
      )
    }
  })

  test('NEG-03: are framed as a length of four bytes and a type and object in an envelope', () => {
    const envelope = printProtobuf({ apiVersion: 'v1', kind: 'Status', type: 'meta/v1.Status', object: { code: 410 } })
    const event = message(text(1, 'ERROR'), field(2, field(1, [...envelope])))
    expect(printProtobufEvent('ERROR', envelope)).toEqual(message([0, 0, 0, event.length], [...event]))
  })
})

/** 2026-01-02T03:04:05Z: seconds and nanoseconds. */
const instant = [0x08, ...varint(1767323045), 0x10, 0]

function expectRoundTrip(type: string, value: unknown): void {
  const object = normalise(type, value)
  expect(normalise(type, decode(type, encodeProtobuf(type, object)))).toEqual(object)
}

/** An object as the server stores it, read by its type's decoder. */
function normalise(type: string, value: unknown): Record<string, unknown> {
  const decoded = decoderOf(type)(value, { trackUnknown: true })
  if (decoded.kind === 'mismatch') throw new Error(decoded.message)
  expect(decoded.unknownFields).toEqual([])
  return decoded.object
}

function decode(type: string, bytes: Uint8Array): Record<string, unknown> {
  const reading = decodeProtobuf(type, bytes)
  if (reading.kind === 'malformed') throw new Error(reading.message)
  return reading.object
}

const structNames = new Map<Node, string>(allTypeNames().map((name) => [resolveType(name), name]))

/** The direct child nodes of a node, for a struct by field. */
function childrenOf(node: Node): readonly (readonly [field: string | undefined, child: Node])[] {
  switch (node.kind) {
    case 'struct':
      return node.fields.filter(({ tag }) => tag !== undefined).map((one) => [one.name, resolveNode(one.node)])
    case 'list':
      return [[undefined, resolveNode(node.items)]]
    case 'map':
      return [[undefined, resolveNode(node.values)]]
    case 'variant':
      return [node.object, node.array].flatMap((form) => (form === undefined ? [] : [[undefined, resolveNode(form.node)] as const]))
    default:
      return []
  }
}

function collectFields(node: Node, all: Set<string>, visited: Set<Node>): void {
  if (visited.has(node)) return
  visited.add(node)
  for (const [name, child] of childrenOf(node)) {
    if (name !== undefined) all.add(`${structNames.get(node)}.${name}`)
    collectFields(child, all, visited)
  }
}

function markFields(node: Node, value: unknown, seen: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, child] of childrenOf(node)) {
    const inner: unknown[] = name === undefined ? Object.values(value) : [(value as Record<string, unknown>)[name]]
    if (name !== undefined && inner[0] !== undefined) seen.add(`${structNames.get(node)}.${name}`)
    const values = node.kind === 'variant' && child.kind !== 'list' ? [value] : inner
    for (const one of values) markFields(child, one, seen)
  }
}

/** Encodes a varint independently of the code under test. */
function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = BigInt(value)
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return [...bytes, Number(rest)]
}

function field(number: number, content: readonly number[]): number[] {
  return [...varint(number * 8 + 2), ...varint(content.length), ...content]
}

function text(number: number, content: string): number[] {
  return field(number, [...new TextEncoder().encode(content)])
}

type Bytes = number[] & Uint8Array

/** Concatenated parts, usable as a part and as bytes. */
function message(...parts: readonly (readonly number[])[]): Bytes {
  return Uint8Array.from(parts.flat()) as unknown as Bytes
}
