import type { Change, WatchFormat } from '@orch/core/contracts'
import { expect, test, vi } from 'vitest'
import { Contents, contentLost, unconverted, type View } from './frames.ts'

const json = Buffer.from('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"7"}}')
const change: Change = {
  revision: 7,
  previous: 6,
  key: 'core/configmaps/d/a',
  after: { value: json, metadataStart: json.indexOf('{"name"'), metadataEnd: json.length - 1, facts: { labels: {}, fields: {} } },
}
const metadata: WatchFormat = { kind: 'metadata', profile: 'orch', version: 'v1', isProtobuf: false }
const table: WatchFormat = { kind: 'table', profile: 'orch', version: 'v1', include: 'None', objectKind: '' }
const view = (format: WatchFormat): View => ({ version: '/v1/configmaps', convert: unconverted, format, formatKey: JSON.stringify(format) })

test('an event is written once per version and format', () => {
  const contents = new Contents(0, () => {})
  const frame = contents.frameOf(change, 'ADDED', view(metadata))
  expect(frame).toBe(contents.frameOf(change, 'ADDED', view(metadata)))
  expect(frame).not.toBe(contents.frameOf(change, 'ADDED', view({ ...metadata, version: 'v1beta1' })))
  expect(JSON.parse(Buffer.from(frame as Uint8Array).toString())).toEqual({
    type: 'ADDED',
    object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1', metadata: { name: 'a', resourceVersion: '7' } },
  })
})

test('metadata are taken from their position in the change, and searched in converted objects', () => {
  const named = Buffer.from('{"metadata":{"name":"first"},"spec":{"name":"second"}}')
  const at = { metadataStart: named.indexOf('{"name":"second"'), metadataEnd: named.length - 1 }
  const told = { ...change, after: { value: named, ...at, facts: { labels: {}, fields: {} } } }
  const metadataIn = (convert: View['convert']) => {
    const frame = new Contents(0, () => {}).frameOf(told, 'ADDED', { ...view(metadata), convert })
    return JSON.parse(Buffer.from(frame as Uint8Array).toString()).object.metadata
  }
  expect(metadataIn(unconverted)).toEqual({ name: 'second' })
  expect(metadataIn((stored) => Buffer.from(stored))).toEqual({ name: 'first' })
})

test('an object that cannot be written in a format is lost only to subscribers of that format', () => {
  const onError = vi.fn()
  const contents = new Contents(0, onError)
  const broken = { ...change, after: { value: Buffer.from('{'), metadataStart: 0, metadataEnd: 1, facts: { labels: {}, fields: {} } } }
  expect(contents.frameOf(broken, 'ADDED', view(table))).toBe(contentLost)
  expect(contents.of(broken, 'ADDED', view({ kind: 'json' }))).toEqual(broken.after.value)
  expect(onError).toHaveBeenCalledOnce()
})

test('WATCH-21: a deleted object is shown in its last state, at the revision of the deletion', () => {
  const deletion: Change = {
    revision: 9,
    previous: 7,
    key: change.key,
    before: { revision: 7, facts: { labels: {}, fields: {} }, value: json },
  }
  const frame = new Contents(0, () => {}).frameOf(deletion, 'DELETED', view(metadata)) as Uint8Array
  expect(JSON.parse(Buffer.from(frame).toString())).toMatchObject({ type: 'DELETED', object: { metadata: { resourceVersion: '9' } } })
})
