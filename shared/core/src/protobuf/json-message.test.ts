import { anyOfType } from '@orch/testkit'
import { fc } from '@orch/testkit/chance'
import { describe, expect, test } from 'vitest'
import { printJson } from '../json/print.ts'
import { decoderOf } from '../schema/decode.ts'
import { allTypeNames, resolveType } from '../schema/resolve.ts'
import { encodeJsonItems, encodeProtobufItems, hasProtobuf } from './encode.ts'
import { JsonMessages } from './json-message.ts'
import { Writer } from './writer.ts'

const types = allTypeNames().filter((name) => {
  const node = resolveType(name)
  return node.kind === 'struct' && node.hasTypeMeta && hasProtobuf(name) && !name.endsWith('List')
})

function expectSame(type: string, value: unknown): void {
  const decoded = decoderOf(type)(value, { trackUnknown: false })
  if (decoded.kind === 'mismatch') throw new Error(decoded.message)
  const json = Buffer.from(printJson(decoded.object, { hasBigIntegers: true }))
  expect(Buffer.from(encodeJsonItems(type, [json])[0] ?? []).toString('hex')).toBe(
    Buffer.from(encodeProtobufItems(type, [decoded.object])[0] ?? []).toString('hex'),
  )
}

const isWritten = (type: string, json: string) => new JsonMessages(new Writer()).copy(type, Buffer.from(json))
const hexOf = (items: readonly Uint8Array[]) => items.map((item) => Buffer.from(item).toString('hex'))

describe('a message that is encoded from JSON', () => {
  test.each(types)('PROTO-09: equals that of the object, for any %s', (type) => {
    fc.assert(
      fc.property(anyOfType(type, 'some'), (value) => expectSame(type, value)),
      { numRuns: 10 },
    )
    fc.assert(
      fc.property(anyOfType(type, 'all'), (value) => expectSame(type, value)),
      { numRuns: 2 },
    )
  })

  test.each([
    [
      'texts with escapes, beyond ASCII, and long ones',
      { data: { a: 'x"\\\n', b: 'größe 漢😀', c: 'y'.repeat(5_000), d: `${'z'.repeat(100)}"` } },
    ],
    ['keys out of their order', { data: { b: '1', a: '2' } }],
    ['keys of which one begins with the other', { data: { a: '1', aa: '2', 'a-b': '3' } }],
    ['keys beyond ASCII', { data: { ä: '1', b: '2' } }],
    ['null and nothing', { data: null, immutable: true, binaryData: {}, metadata: { labels: null, finalizers: [] } }],
    [
      'times on both sides of a leap day, before 1970 and at the ends of what a year may be',
      {
        metadata: {
          name: 'a',
          managedFields: [
            '2024-02-29T23:59:59Z',
            '2024-03-01T00:00:00Z',
            '2100-02-28T12:00:00Z',
            '1969-12-31T23:59:59Z',
            '0001-01-01T00:00:00Z',
            '9999-12-31T23:59:59Z',
            '2026-01-02T03:04:05.5Z',
          ].map((time) => ({ time })),
        },
      },
    ],
    [
      'JSON that is passed through',
      { metadata: { name: 'a', managedFields: [{ fieldsV1: { 'k:{"a":"]}"}': { '.': {} } } }, { fieldsV1: {} }] } },
    ],
    ['many entries', { data: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index + 10_000}`, 'v'])) }],
  ])('equals that of the object, with %s', (_, rest) => {
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, ...rest }
    const json = Buffer.from(JSON.stringify(object))
    expect(hexOf(encodeJsonItems('core/v1.ConfigMap', [json, json]))).toEqual(
      hexOf(encodeProtobufItems('core/v1.ConfigMap', [object, object])),
    )
  })

  test('is encoded without parsing the object if its keys are sorted and ASCII', () => {
    expect(isWritten('core/v1.ConfigMap', '{"metadata":{"name":"a"},"data":{"a":"\\"ö","b":""}}')).toBe(true)
    expect(isWritten('core/v1.ConfigMap', '{"metadata":{"name":"a"},"data":{"b":"","a":""}}')).toBe(false)
  })

  test.each([
    '',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,}',
    '[1 2]',
    '{"a" :1}',
    '{"metadata":{"name":"a}',
    '{}x',
    `${'['.repeat(5_000)}`,
  ])('leaves nothing in the buffer if the text is %j', (text) => {
    const writer = new Writer()
    writer.text('before')
    const { length } = writer
    expect([new JsonMessages(writer).copy('core/v1.ConfigMap', Buffer.from(text)), writer.length]).toEqual([false, length])
  })
})
