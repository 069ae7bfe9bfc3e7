import { expect, test } from 'vitest'
import { byteFieldsOf } from './byte-fields.ts'
import { cborEvent, cborListFrame, jsonToCbor, jsonToCborItem } from './encode.ts'
import { cborToJson } from './to-json.ts'

const json = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
const read = (hex: string, valuesMax = 100) => cborToJson(bytesOf(hex), { valuesMax })
const secretFields = byteFieldsOf('core/v1.Secret')

test.each<readonly [string, unknown, string]>([
  ['a text and the name of a member are byte strings', { a: 'b' }, 'd9d9f7 a1 4161 4162'],
  ['members keep their order', { b: true, a: false, c: null }, 'd9d9f7 a3 4162 f5 4161 f4 4163 f6'],
  ['numbers are as short as they can be', [0, 24, -1, 1.5, 1e300], 'd9d9f7 85 00 1818 20 f93e00 fb7e37e43c8800759c'],
  ['empty containers', [{}, []], 'd9d9f7 82 a0 80'],
])('MACH-READ-09: %s is encoded in CBOR', (_, value, hex) => {
  expect(hexOf(jsonToCbor(json(value)))).toBe(hex.replaceAll(' ', ''))
})

test('MACH-READ-09: a Status has the bytes of kube-apiserver 1.37.2', () => {
  const status = {
    ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: 'secrets "zz" not found', reason: 'NotFound' },
    ...{ details: { name: 'zz', kind: 'secrets' }, code: 404 },
  }
  const recorded =
    'd9d9f7a8446b696e64465374617475734a61706956657273696f6e427631486d65746164617461a046737461747573474661696c757265476d6573736167655673656372' +
    '65747320227a7a22206e6f7420666f756e6446726561736f6e484e6f74466f756e644764657461696c73a2446e616d65427a7a446b696e64477365637265747344636f64' +
    '65190194'
  expect(hexOf(jsonToCbor(json(status)))).toBe(recorded)
})

test('MACH-READ-09: 64-bit integers keep their value in both directions', () => {
  const text = '{"a":9223372036854775807,"b":-9223372036854775808,"c":9007199254740993}'
  const bytes = jsonToCbor(new TextEncoder().encode(text))
  expect(hexOf(bytes)).toBe('d9d9f7a341611b7fffffffffffffff41623b7fffffffffffffff41631b0020000000000001')
  expect(cborToJson(bytes, { valuesMax: 10 })).toEqual({ kind: 'json', text })
})

test('MACH-READ-09: bytes of a built-in kind have the tag for base64, and bytes of a custom kind are strings', () => {
  const secret = json({ data: { x: 'aGVsbG8=' }, type: 'Opaque' })
  expect(hexOf(jsonToCborItem(secret, secretFields))).toBe('a2446461 7461a14178d64568656c6c6f 4474797065464f7061717565'.replaceAll(' ', ''))
  expect(hexOf(jsonToCborItem(secret))).toBe('a2 4464617461 a1 4178 48614756736247383d 4474797065 464f7061717565'.replaceAll(' ', ''))
  expect(cborToJson(jsonToCbor(secret, secretFields), { valuesMax: 10 })).toEqual({
    kind: 'json',
    text: '{"data":{"x":"aGVsbG8="},"type":"Opaque"}',
  })
})

test.each([
  ['core/v1.Secret', true],
  ['core/v1.ConfigMap', true],
  ['admissionregistration/v1.ValidatingWebhookConfiguration', true],
  ['certificates/v1.CertificateSigningRequest', true],
  ['apiextensions/v1.CustomResourceDefinition', true],
  ['core/v1.Pod', false],
])('byte fields are found in the type %s: %s', (type, hasBytes) => {
  expect(byteFieldsOf(type) !== undefined).toBe(hasBytes)
})

test('a streamed list has the number of its items, and an event has an object', () => {
  const { front, back } = cborListFrame({ kind: 'L', apiVersion: 'v1', metadata: {} })
  const list = Buffer.concat([front, jsonToCborItem(json({ a: 1 })), jsonToCborItem(json({ a: 2 })), back])
  expect(cborToJson(list, { valuesMax: 100 })).toEqual({
    kind: 'json',
    text: '{"kind":"L","apiVersion":"v1","metadata":{},"items":[{"a":1},{"a":2}]}',
  })
  const event = cborEvent('ADDED', jsonToCbor(json({ a: 1 })))
  expect(hexOf(event)).toBe('d9d9f7 a2 4474797065 454144444544 466f626a656374 d9d9f7 a1 4161 01'.replaceAll(' ', ''))
  expect(cborToJson(event, { valuesMax: 10 })).toEqual({ kind: 'json', text: '{"type":"ADDED","object":{"a":1}}' })
})

test.each<readonly [string, string, string]>([
  ['texts and byte strings', 'a2 6161 6162 4163 4164', '{"a":"b","c":"d"}'],
  ['containers without a length', 'bf 4161 9f 01 02 ff 4162 bf ff ff', '{"a":[1,2],"b":{}}'],
  ['bytes with the tags of base64, base64url and hexadecimal', '83 d6 42fbff d5 42fbff d7 42fbff', '["+/8=","-_8","fbff"]'],
  ['other tags', 'd9d9f7 c1 c0 61 61', '"a"'],
  ['a time by seconds', 'c1 1a 5e0be100', '"2020-01-01T00:00:00.000Z"'],
  ['numbers with a fraction', '83 f94000 f93e00 fb7e37e43c8800759c', '[2.0,1.5,1e+300]'],
  ['integers of 64 bits', '82 1b 7fffffffffffffff 3b 7fffffffffffffff', '[9223372036854775807,-9223372036854775808]'],
  ['a byte that is no UTF-8', '43 61ff62', '"a\ufffdb"'],
  ['a member __proto__', 'a1 49 5f5f70726f746f5f5f 01', '{"__proto__":1}'],
])('MACH-READ-09: %s are decoded', (_, hex, text) => {
  expect(read(hex)).toEqual({ kind: 'json', text })
})

test.each<readonly [string, string, string]>([
  ['nothing', '', 'EOF'],
  ['an item that is cut off', 'a1 4161', 'unexpected EOF'],
  ['a text that is cut off', '78', 'unexpected EOF'],
  ['a length beyond the end', '5b 00000000ffffffff 61', 'unexpected EOF'],
  ['a list of 2^32 items beyond the end', '9b 0000000100000000 01', 'unexpected EOF'],
  ['two items', 'a0a0', 'cbor: 1 bytes of extraneous data starting at index 1'],
  ['an end that ends nothing', '82 01 ff', 'cbor: unexpected "break" code'],
  ['a map that ends after a key', 'bf 4161 ff', 'cbor: unexpected "break" code'],
  ['a number as key', 'a1 01 01', 'cbor: the key of a map is no text'],
  ['a large number by tag', 'c2 4101', 'cbor: data item of cbor type tag is not accepted by protocol: bignum'],
  [
    'an integer beyond 64 bits',
    '1b ffffffffffffffff',
    "cbor: cannot unmarshal positive integer into Go value of type int64 (18446744073709551615 overflows Go's int64)",
  ],
  ['no number', 'f97e00', 'cbor: NaN values are not supported'],
  ['infinity', 'f97c00', 'cbor: Infinity values are not supported'],
  ['no value', 'f7', 'cbor: undefined values are not supported'],
  ['a text that is no UTF-8', '61ff', 'cbor: invalid UTF-8 string'],
  ['a time that no calendar has', 'c1 1b 00ffffffffffffff', 'cbor: the seconds of a time are out of range'],
])('MACH-READ-09: %s is refused', (_, hex, message) => {
  expect(read(hex)).toEqual({ kind: 'malformed', message })
})

test('deep values are decoded without recursion, and more than ten thousand levels are refused', () => {
  const text = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
  const bytes = jsonToCborItem(new TextEncoder().encode(text))
  expect(cborToJson(bytes, { valuesMax: 20_000 })).toEqual({ kind: 'json', text })
  const deeper = Buffer.concat([Buffer.of(0x81), bytes])
  expect(cborToJson(deeper, { valuesMax: 20_000 })).toMatchObject({ kind: 'malformed', message: expect.stringContaining('nested') })
})

test('decoding stops after the allowed number of values', () => {
  expect(read('83 01 02 03', 4)).toMatchObject({ kind: 'json' })
  expect(read('83 01 02 03', 3)).toEqual({ kind: 'tooManyValues' })
})
