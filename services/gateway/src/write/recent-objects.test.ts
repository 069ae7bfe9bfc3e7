import type { ApiObject } from '@orch/core/meta'
import { expect, test } from 'vitest'
import { isAsRead, RecentObjects, withRevision } from './recent-objects.ts'

const anObject = (name: string): ApiObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const bytesOf = (text: string): Uint8Array => Buffer.from(text)

test('an object is found only by its served bytes', () => {
  const recent = new RecentObjects()
  const object = anObject('a')
  recent.remember('/a', bytesOf('one'), object)
  expect(recent.find('/a', bytesOf('one'))).toBe(object)
  expect(recent.find('/a', bytesOf('two'))).toBeUndefined()
  expect(recent.find('/b', bytesOf('one'))).toBeUndefined()
  recent.forget('/a')
  expect(recent.find('/a', bytesOf('one'))).toBeUndefined()
})

test('objects are cached up to a bound of bytes; the oldest are dropped first', () => {
  const recent = new RecentObjects(8)
  const kept = (): string[] => ['/a', '/b', '/c'].filter((key) => recent.find(key, bytesOf('four')) !== undefined)
  recent.remember('/a', bytesOf('four'), anObject('a'))
  recent.remember('/b', bytesOf('four'), anObject('b'))
  expect(kept()).toEqual(['/a', '/b'])
  recent.remember('/a', bytesOf('four'), anObject('a'))
  recent.remember('/c', bytesOf('four'), anObject('c'))
  expect(kept()).toEqual(['/a', '/c'])
  recent.remember('/b', bytesOf('too many for it'), anObject('b'))
  expect(kept()).toEqual([])
})

test('the bytes of an object are parsed once for readers in this process, and an older state replaces no newer one', () => {
  const recent = new RecentObjects()
  const stateOf = (resourceVersion: string, data: object = {}) =>
    bytesOf(JSON.stringify({ ...anObject('a'), metadata: { name: 'a', resourceVersion }, ...data }))
  const [older, newer] = [stateOf('9'), stateOf('10')]
  const read = recent.read('/a', newer)
  expect([recent.read('/a', newer), recent.find('/a', newer)]).toEqual([read, read])
  expect(recent.find('/a', newer)).toBe(read)
  expect(recent.read('/a', older).metadata.resourceVersion).toBe('9')
  expect(recent.find('/a', newer)).toBe(read)
  const beyond = stateOf('11', { count: 0 })
  const huge = bytesOf(Buffer.from(beyond).toString().replace('"count":0', '"count":9007199254740993'))
  expect(recent.read('/a', huge)['count']).toBe(9007199254740992)
  expect(recent.find('/a', huge)).toBeUndefined()
})

test('an object is cached only if parsing its bytes gives the same object', () => {
  expect(isAsRead({ a: [1, { b: 'x', c: null }] }, undefined)).toBe(true)
  expect(isAsRead({ a: { b: undefined } }, {})).toBe(false)
  expect(isAsRead({ a: [2n ** 60n] }, { a: [1] })).toBe(false)
  const shared = { spec: { a: undefined } }
  expect(isAsRead(shared, shared)).toBe(true)
  expect(isAsRead({ ...shared, status: undefined }, shared)).toBe(false)
})

test('an object is returned with the revision of its write', () => {
  const object = { ...anObject('a'), metadata: { name: 'a', resourceVersion: '7' } }
  expect(withRevision(object, 8)).toEqual({ ...object, metadata: { name: 'a', resourceVersion: '8' } })
  expect(object.metadata.resourceVersion).toBe('7')
})
