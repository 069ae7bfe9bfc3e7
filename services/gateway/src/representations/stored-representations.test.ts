import { expect, test } from 'vitest'
import { withoutOwners } from './stored-representations.ts'

function anEntry(metadata: object, spec: object) {
  const front = '{"apiVersion":"v1","kind":"Pod","metadata":'
  const inner = JSON.stringify(metadata)
  const value = Buffer.from(`${front}${inner},"spec":${JSON.stringify(spec)}}`)
  return { value, metadataStart: front.length, metadataEnd: front.length + Buffer.byteLength(inner) }
}

function read(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(bytes))
}

const managedFields = [{ manager: 'ci', operation: 'Update', fieldsV1: { 'f:spec': {} } }]

test('rows are read from the object without the owners of fields', () => {
  const metadata = { name: 'wéb', labels: { app: 'x' } }
  const entry = anEntry({ ...metadata, managedFields }, { managedFields: [1] })
  expect(read(withoutOwners(entry))).toEqual({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { managedFields: [1] } })
})

test('a text that looks like owners of fields is kept', () => {
  const annotations = { a: '{"b":1,"managedFields":[{}]}', managedFields: '[' }
  const plain = anEntry({ name: 'web', annotations }, {})
  expect(withoutOwners(plain)).toBe(plain.value)
  const owned = anEntry({ name: 'web', annotations, managedFields }, {})
  expect(read(withoutOwners(owned))).toEqual({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', annotations }, spec: {} })
})

test.each([
  { deletionTimestamp: '2026-01-01T00:00:00Z' },
  { finalizers: ['a/b'] },
  { ownerReferences: [{ name: 'x' }] },
  { labels: { a: '}]}' } },
])('an object whose owners of fields are followed by %j is read whole', (more) => {
  const entry = anEntry({ name: 'web', managedFields, ...more }, {})
  expect(withoutOwners(entry)).toBe(entry.value)
})

test('an object with metadata at an unknown position is read whole', () => {
  const { value } = anEntry({ name: 'web', managedFields }, {})
  expect(withoutOwners({ value })).toBe(value)
})
