import { fc } from '@orch/testkit/chance'
import { describe, expect, test } from 'vitest'
import {
  assemble,
  clearRevision,
  decodeStored,
  decodeStoredFront,
  encodeObject,
  encodeStored,
  fillRevision,
  jsonStartOf,
  serve,
} from './envelope.ts'

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const aPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'default', uid: 'u-1', creationTimestamp: '2026-01-01T00:00:00Z', labels: { app: 'x' } },
  spec: { nodeName: 'größe' },
}
const parts = { fingerprint: 0xfffffff0, writeId: 'w-1', expiresAtMs: 0, labels: { b: '2', a: '1' }, fields: {} }

describe('an encoded object', () => {
  test('has resourceVersion between uid and the next member', () => {
    const { json, hole } = encodeObject(aPod)
    expect(text(fillRevision(json, hole, 17))).toBe(
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default","uid":"u-1","resourceVersion":"17",' +
        '"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"x"}},"spec":{"nodeName":"größe"}}',
    )
  })

  test('omits a resourceVersion of the object', () => {
    const withRevision = encodeObject({ metadata: { name: 'a', resourceVersion: '5', generation: 1 } })
    expect(text(withRevision.json)).toBe('{"metadata":{"name":"a","generation":1}}')
  })

  test('with no metadata after uid has no stray comma', () => {
    const { json, hole } = encodeObject({ metadata: { name: 'a' } })
    expect(text(fillRevision(json, hole, 1))).toBe('{"metadata":{"name":"a","resourceVersion":"1"}}')
  })

  test('has managedFields as JSON prints them, also when they have been printed before', () => {
    const fieldsV1 = { 'f:spec': { 'k:{"name":"ö"}': { '.': {} } } }
    const entryOf = (time: string | undefined) => ({ manager: 'm"', time, fieldsV1, subresource: 'status' })
    for (const managedFields of [[entryOf('1')], [entryOf(undefined), entryOf('2')], [], [{ manager: 'm' }], [null], null]) {
      const object = { metadata: { name: 'a', managedFields } }
      expect(text(encodeObject(object).json)).toBe(JSON.stringify(object))
    }
  })

  test('needs metadata.name', () => {
    expect(() => encodeObject({ metadata: { labels: {} } })).toThrow('metadata.name')
    expect(() => encodeObject({ kind: 'Pod' })).toThrow('metadata')
  })

  test('may use a printer for values beyond JSON.stringify', () => {
    const print = (value: unknown) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value))
    expect(text(encodeObject({ metadata: { name: 'a' }, big: 9007199254740993n }, print).json)).toContain('"big":9007199254740993')
  })

  test('omits members without a value', () => {
    expect(text(encodeObject({ metadata: { name: 'a', uid: undefined }, spec: undefined, status: {} }).json)).toBe(
      '{"metadata":{"name":"a"},"status":{}}',
    )
  })
})

test('serving any object gives its JSON with the revision, and the range of its metadata', () => {
  const objects = fc.record({
    kind: fc.string(),
    metadata: fc.record({
      name: fc.string({ minLength: 1, unit: 'grapheme' }),
      labels: fc.dictionary(fc.string({ unit: 'grapheme' }), fc.string()),
    }),
    spec: fc.jsonValue(),
  })
  fc.assert(
    fc.property(objects, fc.nat(), (object, revision) => {
      const encoded = encodeObject(object)
      const { value, metadataStart, metadataEnd } = serve(encoded, revision)
      const plain = JSON.parse(JSON.stringify(object))
      expect(JSON.parse(text(value))).toEqual({ ...plain, metadata: { ...plain.metadata, resourceVersion: String(revision) } })
      expect(JSON.parse(text(value.subarray(metadataStart, metadataEnd)))).toEqual({ ...plain.metadata, resourceVersion: String(revision) })
      expect(clearRevision(value, encoded.hole, revision)).toEqual(encoded.json)
    }),
  )
})

describe('a stored value', () => {
  const encoded = encodeObject(aPod)

  test('is decoded unchanged', () => {
    const view = decodeStored(encodeStored({ ...parts, encoded, expiresAtMs: 1767225600123 }))
    expect(view).toEqual({
      ...encoded,
      fingerprint: 0xfffffff0,
      writeId: 'w-1',
      expiresAtMs: 1767225600123,
      labelsText: '{"a":"1","b":"2"}',
      fieldsText: '{}',
    })
  })

  test('has equal text for equal labels in another order', () => {
    const one = decodeStored(encodeStored({ ...parts, encoded, labels: { a: '1', b: '2' } }))
    expect(one.labelsText).toBe(decodeStored(encodeStored({ ...parts, encoded })).labelsText)
  })

  test.each([
    ['of other characters', { 'ä/b': 'é', a: '€' }, '{"a":"€","ä/b":"é"}'],
    ['of many', { b: 'x'.repeat(3000), a: '"' }, `{"a":"\\"","b":"${'x'.repeat(3000)}"}`],
    ['with numbers for names', { 10: 'x', 9: 'y' }, '{"10":"x","9":"y"}'],
    ['in order', { 10: 'x', 2: 'y', a: 'z' }, '{"10":"x","2":"y","a":"z"}'],
    ['without any', {}, '{}'],
  ])('with labels and fields %s is decoded unchanged', (_, facts, text) => {
    const bytes = encodeStored({ ...parts, encoded, writeId: 'wé-1', labels: facts, fields: { ...facts, ü: 'z' } })
    const fieldsText = text === '{}' ? '{"ü":"z"}' : `${text.slice(0, -1)},"ü":"z"}`
    expect(decodeStored(bytes)).toMatchObject({ writeId: 'wé-1', labelsText: text, fieldsText, json: encoded.json })
  })

  test('can be assembled again after decoding', () => {
    const bytes = encodeStored({ ...parts, encoded })
    expect(assemble(decodeStored(bytes))).toEqual(bytes)
  })

  test('may be inside a larger buffer', () => {
    const bytes = encodeStored({ ...parts, encoded })
    const larger = new Uint8Array(bytes.length + 10)
    larger.set(bytes, 5)
    expect(decodeStored(larger.subarray(5, 5 + bytes.length))).toEqual(decodeStored(bytes))
  })

  test('has the same facts in its first bytes, once they reach the JSON', () => {
    const bytes = encodeStored({ ...parts, encoded })
    const { json, ...rest } = decodeStored(bytes)
    const jsonStart = bytes.length - json.length
    expect(jsonStartOf(bytes)).toBe(jsonStart)
    for (let end = 0; end <= bytes.length; end++) {
      const view = decodeStoredFront({ bytes: bytes.subarray(0, end), length: bytes.length })
      if (end < jsonStart) expect(view).toBeUndefined()
      else expect(view).toEqual({ ...rest, json: bytes.subarray(jsonStart, end) })
    }
    const cut = { bytes: bytes.subarray(0, jsonStart), length: jsonStart + encoded.metadataEnd - 1 }
    expect(() => decodeStoredFront(cut)).toThrow('offsets outside of its object')
  })

  test('of another format or transformer is reported by name', () => {
    const bytes = encodeStored({ ...parts, encoded })
    expect(() => decodeStored(bytes.with(0, 9))).toThrow('format 9')
    expect(() => decodeStored(bytes.with(1, 3))).toThrow('transformer 3')
  })

  test('of random bytes gives an error or a view, without a crash', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        try {
          expect(decodeStored(bytes).json.length).toBeLessThanOrEqual(bytes.length)
        } catch (error) {
          expect((error as Error).message).toContain('stored value')
        }
      }),
    )
  })

  test('with a write id that is too long is refused', () => {
    expect(() => encodeStored({ ...parts, encoded, writeId: 'x'.repeat(256) })).toThrow('255')
  })

  test('may be deeper than the call stack, and omits members without a value', () => {
    const data = `${'['.repeat(9000)}${']'.repeat(9000)}`
    const object = { kind: 'A', spec: undefined, metadata: { name: 'a' }, data: JSON.parse(data) as unknown }
    const text = `{"kind":"A","metadata":{"name":"a"},"data":${data}}`
    expect(new TextDecoder().decode(encodeObject(object).json)).toBe(text)
  })
})
