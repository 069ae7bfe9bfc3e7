import type { ApiObject } from '@orch/core/meta'
import { encodeObject, fillRevision } from '@orch/core/stored'
import { expect, test } from 'vitest'
import { isAsRead, RecentObjects, withRevision } from './recent-objects.ts'

const anObject = (name: string): ApiObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const bytesOf = (text: string): Uint8Array => Buffer.from(text)

test('an object is found only by its served bytes', () => {
  const recent = new RecentObjects()
  const object = anObject('a')
  recent.remember('/a', bytesOf('one'), object)
  expect(recent.find('/a', bytesOf('one'), 1)).toBe(object)
  expect(recent.find('/a', bytesOf('two'), 1)).toBeUndefined()
  expect(recent.find('/b', bytesOf('one'), 1)).toBeUndefined()
  recent.forget('/a')
  expect(recent.find('/a', bytesOf('one'), 1)).toBeUndefined()
})

test('objects are cached up to a bound of bytes; the oldest are dropped first', () => {
  const recent = new RecentObjects(8)
  const kept = (): string[] => ['/a', '/b', '/c'].filter((key) => recent.find(key, bytesOf('four'), 1) !== undefined)
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
  const read = recent.read('/a', newer, 10)
  expect([recent.read('/a', newer, 10), recent.find('/a', newer, 10)]).toEqual([read, read])
  expect(recent.find('/a', newer, 10)).toBe(read)
  expect(recent.read('/a', older, 9).metadata.resourceVersion).toBe('9')
  expect(recent.find('/a', newer, 10)).toBe(read)
  const beyond = stateOf('11', { count: 0 })
  const huge = bytesOf(Buffer.from(beyond).toString().replace('"count":0', '"count":9007199254740993'))
  expect(recent.read('/a', huge, 11)['count']).toBe(9007199254740992)
  expect(recent.find('/a', huge, 11)).toBeUndefined()
})

test('an object that is being stored is found by its bytes at the revision of its write, until it is withdrawn', () => {
  const recent = new RecentObjects()
  const object = anObject('a')
  const encoded = encodeObject(object)
  const stateAt = (revision: number) => fillRevision(encoded.json, encoded.hole, revision)
  const announced = recent.announce('/a', object, encoded)
  expect(recent.find('/a', bytesOf('other'), 7)).toBeUndefined()
  const found = recent.find('/a', stateAt(7), 7)
  expect(found).toEqual(withRevision(object, 7))
  expect(recent.confirm('/a', announced, 7)).toEqual({ json: stateAt(7), object: found })
  expect(recent.confirm('/a', announced, 7).object).toBe(found)
  expect(recent.find('/a', stateAt(7), 7)).toBe(found)
  const later = recent.announce('/a', object, encoded)
  recent.withdraw('/a', announced)
  expect(recent.find('/a', stateAt(8), 8)?.metadata.resourceVersion).toBe('8')
  recent.withdraw('/a', later)
  expect(recent.find('/a', stateAt(9), 9)).toBeUndefined()
  expect(recent.confirm('/a', later, 9)).toEqual({ json: stateAt(9), object: withRevision(object, 9) })
  expect(recent.confirm('/a', later, 8)).toEqual({ json: stateAt(8) })
  expect(recent.find('/a', stateAt(9), 9)?.metadata.resourceVersion).toBe('9')
})

test('new objects are cached once a reader in this process has read their resource', () => {
  const recent = new RecentObjects()
  const json = bytesOf(JSON.stringify(anObject('a')))
  expect(recent.isFollowed('core/maps/n/b')).toBe(false)
  recent.read('core/maps/n/a', json, 1)
  expect([recent.isFollowed('core/maps/n/b'), recent.isFollowed('core/mapsx/n/b')]).toEqual([true, false])
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
