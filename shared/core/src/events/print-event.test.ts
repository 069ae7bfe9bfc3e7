import { expect, test } from 'vitest'
import { createCatalogue } from '../catalogue/catalogue.ts'
import type { WatchFormat } from '../contracts/watch.ts'
import { namesOf } from '../names.ts'
import { decodeProtobuf } from '../protobuf/decode.ts'
import { parseEnvelope } from '../protobuf/envelope.ts'
import { printErrorEvent, printEvent, readWithoutOwners, withColumns } from './print-event.ts'

const nowMs = Date.parse('2026-01-01T00:01:00Z')
const object = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', namespace: 'd', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' },
  data: { x: '{"metadata":1}' },
}
const json = new TextEncoder().encode(JSON.stringify(object))
const content = { stored: json, served: json }
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const table = (include: 'None' | 'Object' | 'Metadata'): WatchFormat => ({
  kind: 'table',
  profile: 'orch',
  objectKind: 'ConfigMap',
  version: 'v1',
  include,
})
const tableOfConfigMaps = createCatalogue('orch').find('', 'v1', 'configmaps')?.readers.table
const protobuf: WatchFormat = { kind: 'protobuf', apiVersion: 'v1', objectKind: 'ConfigMap', type: 'core/v1.ConfigMap' }
const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: 'gone', reason: 'Expired', code: 410 } as const

/** The two fields of an event's message, with lengths below 128. */
function protobufEvent(frame: Uint8Array) {
  const view = new DataView(frame.buffer, frame.byteOffset)
  expect(view.getUint32(0)).toBe(frame.length - 4)
  const message = frame.subarray(4)
  const typeEnd = 2 + (message[1] as number)
  const magic = message.indexOf(0x6b, typeEnd)
  return { type: text(message.subarray(2, typeEnd)), object: parseEnvelope(message.subarray(magic), namesOf('orch')) }
}

test('WATCH-02: an event in JSON is one line', () => {
  expect(text(printEvent({ kind: 'json' }, 'ADDED', content, nowMs))).toBe(`{"type":"ADDED","object":${text(json)}}\n`)
})

test('NEG-06: an event as Table has one row, and no columns until they are inserted', () => {
  const frame = printEvent(table('Metadata'), 'MODIFIED', content, nowMs, tableOfConfigMaps)
  const { type, object: shown } = JSON.parse(text(frame))
  expect(type).toBe('MODIFIED')
  expect(shown).toMatchObject({ kind: 'Table', apiVersion: 'meta.orch.io/v1', metadata: { resourceVersion: '7' }, columnDefinitions: null })
  expect(shown.rows).toEqual([
    { cells: ['a', 1, '60s'], object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1', metadata: object.metadata } },
  ])
  const two = new Uint8Array([...frame, ...frame])
  const lines = text(withColumns(two, '[{"name":"Name"}]')).trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).object.columnDefinitions)).toEqual([[{ name: 'Name' }], null])
})

test('NEG-06: a row contains the object, its metadata or nothing', () => {
  const rowObject = (include: 'None' | 'Object') =>
    JSON.parse(text(printEvent(table(include), 'ADDED', content, nowMs, tableOfConfigMaps))).object.rows[0].object
  expect(rowObject('None')).toBeNull()
  expect(rowObject('Object')).toEqual(object)
})

test('PROTO-01: an event in Protobuf contains the object in its envelope', () => {
  const { type, object: reading } = protobufEvent(printEvent(protobuf, 'DELETED', content, nowMs))
  expect(type).toBe('DELETED')
  if (reading.kind !== 'envelope') throw new Error(reading.message)
  expect(reading.envelope).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' })
  expect(decodeProtobuf('core/v1.ConfigMap', reading.envelope.raw)).toMatchObject({
    object: { metadata: object.metadata, data: object.data },
  })
})

test('PartialObjectMetadata reuses the bytes of the object’s metadata, in JSON and in Protobuf', () => {
  const format = { kind: 'metadata', profile: 'orch', version: 'v1' } as const
  const shown = JSON.parse(text(printEvent({ ...format, isProtobuf: false }, 'ADDED', content, nowMs)))
  expect(shown.object).toEqual({ kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1', metadata: object.metadata })
  const { object: reading } = protobufEvent(printEvent({ ...format, isProtobuf: true }, 'ADDED', content, nowMs))
  expect(reading).toMatchObject({ envelope: { apiVersion: 'meta.orch.io/v1', kind: 'PartialObjectMetadata' } })
})

test('an error is a Status in every format', () => {
  expect(JSON.parse(text(printErrorEvent(table('None'), status)))).toEqual({ type: 'ERROR', object: status })
  const { type, object: reading } = protobufEvent(printErrorEvent(protobuf, status))
  expect(type).toBe('ERROR')
  if (reading.kind !== 'envelope') throw new Error(reading.message)
  expect(decodeProtobuf('meta/v1.Status', reading.envelope.raw)).toMatchObject({
    object: { status: 'Failure', message: 'gone', code: 410 },
  })
})

test.each([
  ['all is ASCII', { labels: { a: 'b' }, annotations: { note: 'a "text", with ,"managedFields":[' } }],
  ['not all is ASCII', { labels: { a: 'b' }, annotations: { note: 'größe' } }],
  ['there are no owners', { labels: { a: 'b' } }],
])('an object is read unchanged except for managedFields if %s', (_, metadata) => {
  const owners = [{ manager: 'm', fieldsV1: { 'f:spec': {} } }]
  const own = { name: 'a', ...metadata, ...('annotations' in metadata ? { managedFields: owners } : {}) }
  const spec = { of: ['x'], managedFields: [] }
  const front = '{"kind":"A","apiVersion":"v1","metadata":'
  const value = Buffer.from(`${front}${JSON.stringify(own)},"spec":${JSON.stringify(spec)}}`)
  const metadataEnd = value.length - Buffer.byteLength(`,"spec":${JSON.stringify(spec)}}`)
  const { managedFields, ...others } = readWithoutOwners({ value, metadataEnd }).metadata
  expect(managedFields).toEqual(value.includes('ö') ? owners : undefined)
  expect({ ...readWithoutOwners({ value, metadataEnd }), metadata: others }).toEqual({
    kind: 'A',
    apiVersion: 'v1',
    metadata: { name: 'a', ...metadata },
    spec,
  })
})
