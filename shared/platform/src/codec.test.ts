import { type Static, wire } from '@orch/core/contracts'
import { MalformedProtobuf } from '@orch/core/protobuf-wire'
import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { codecOf } from './codec.ts'

const inner = wire.message({ name: wire.string(1), note: wire.optional(wire.string(2)) })
const choice = wire.variants({
  empty: wire.message({}),
  one: wire.message({ value: wire.int64(1) }),
  deep: wire.message({ inner: wire.nested(1, inner) }),
})
const everything = wire.message({
  text: wire.string(1),
  bytes: wire.bytes(2),
  yes: wire.bool(3),
  whole: wire.int64(4),
  ratio: wire.double(5),
  plain: wire.json<unknown>(6),
  labels: wire.stringMap(7),
  inner: wire.nested(8, inner),
  choice: wire.union(9, choice),
  maybe: wire.optional(wire.bytes(10)),
  maybeInner: wire.optional(wire.nested(11, inner)),
  texts: wire.many(wire.string(12)),
  inners: wire.many(wire.nested(13, inner)),
  choices: wire.many(wire.union(14, choice)),
})
type Everything = Static<typeof everything>

const roundTrip = (message: Everything) => codecOf(everything).decode(codecOf(everything).encode(message))

const innerValue = fc.record({ name: fc.string(), note: fc.string() }, { requiredKeys: ['name'] })
const choiceValue = fc.oneof(
  fc.constant({ kind: 'empty' as const }),
  fc.record({ kind: fc.constant('one' as const), value: fc.maxSafeInteger() }),
  fc.record({ kind: fc.constant('deep' as const), inner: innerValue }),
)
/** JSON has no negative zero, and whole numbers beyond 2^53 are read as exact integers. */
function isPrintedExactly(value: unknown): boolean {
  if (typeof value === 'number') return !Object.is(value, -0) && (!Number.isInteger(value) || Number.isSafeInteger(value))
  return typeof value !== 'object' || value === null || Object.values(value).every(isPrintedExactly)
}

const messages: fc.Arbitrary<Everything> = fc.record(
  {
    text: fc.string({ unit: 'binary' }),
    bytes: fc.uint8Array(),
    yes: fc.boolean(),
    whole: fc.maxSafeInteger(),
    ratio: fc.double(),
    plain: fc.jsonValue().filter(isPrintedExactly),
    labels: fc.dictionary(fc.string(), fc.string()).map((labels) => ({ ...labels })),
    inner: innerValue,
    choice: choiceValue,
    maybe: fc.uint8Array(),
    maybeInner: innerValue,
    texts: fc.array(fc.string()),
    inners: fc.array(innerValue),
    choices: fc.array(choiceValue),
  },
  { requiredKeys: ['text', 'bytes', 'yes', 'whole', 'ratio', 'plain', 'labels', 'inner', 'choice', 'texts', 'inners', 'choices'] },
)

/** Converts buffers to plain arrays, since both have the same wire form. */
const plain = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (_, member) => (member instanceof Uint8Array || member?.type === 'Buffer' ? textOf(member) : member)))
const textOf = (bytes: Uint8Array | { data: number[] }) => Buffer.from('data' in bytes ? bytes.data : bytes).toString('hex')

test('any message is decoded unchanged', () => {
  fc.assert(
    fc.property(messages, (message) => {
      expect(plain(roundTrip(message))).toEqual(plain(message))
    }),
  )
})

test('an absent optional field stays absent, and an empty field stays present', () => {
  const base = { text: '', bytes: new Uint8Array(), yes: false, whole: 0, ratio: 0, plain: null, labels: {}, inner: { name: '' } }
  const message = { ...base, choice: { kind: 'empty' as const }, texts: [], inners: [], choices: [] }
  expect(roundTrip(message)).not.toHaveProperty('maybe')
  expect(roundTrip({ ...message, maybe: new Uint8Array(), maybeInner: { name: '' } })).toMatchObject({ maybeInner: { name: '' } })
  expect(roundTrip({ ...message, maybe: new Uint8Array() })).toHaveProperty('maybe')
})

test('a value for callers in the same process is not sent', () => {
  const codec = codecOf(wire.message({ name: wire.string(1), own: wire.local<() => void>() }))
  expect(codec.decode(codec.encode({ name: 'a', own: () => {} }))).toEqual({ name: 'a' })
})

test('integers beyond 2^53 in plain data stay exact', () => {
  const codec = codecOf(wire.message({ plain: wire.json<unknown>(1) }))
  expect(codec.decode(codec.encode({ plain: { n: 9223372036854775807n } }))).toEqual({ plain: { n: 9223372036854775807n } })
})

test.each([0, 1, 127, 128, 16_384, 2 ** 31, 2 ** 32 + 5, Number.MAX_SAFE_INTEGER, -1, -128, Number.MIN_SAFE_INTEGER])(
  'the integer %d is decoded unchanged',
  (whole) => {
    const codec = codecOf(wire.message({ whole: wire.int64(1) }))
    const bytes = codec.encode({ whole })
    expect(codec.decode(bytes)).toEqual({ whole })
    expect(() => codec.decode(bytes.subarray(0, -1))).toThrow(MalformedProtobuf)
  },
)

test('a label may be named like a JavaScript property', () => {
  const codec = codecOf(wire.message({ labels: wire.stringMap(1) }))
  const labels = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>
  const read = codec.decode(codec.encode({ labels })) as { labels: Record<string, string> }
  expect(Object.entries(read.labels)).toEqual(Object.entries(labels))
  expect(Object.getPrototypeOf(read.labels)).toBe(Object.prototype)
})

test('unknown fields are skipped', () => {
  const newer = codecOf(wire.message({ name: wire.string(1), extra: wire.nested(9, inner), more: wire.double(3), n: wire.int64(4) }))
  const bytes = newer.encode({ name: 'a', extra: { name: 'x' }, more: 1.5, n: -7 })
  expect(codecOf(inner).decode(bytes)).toEqual({ name: 'a' })
})

test('bytes that are no message are an error, without a crash', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      let outcome: unknown
      try {
        outcome = codecOf(everything).decode(bytes)
      } catch (error) {
        outcome = error
      }
      expect(outcome).toBeTypeOf('object')
    }),
  )
})
