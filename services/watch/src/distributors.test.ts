import type { Change, SubscribeRequest, WatchPart } from '@orch/core/contracts'
import { expect, test } from 'vitest'
import { Distributors } from './distributors.ts'
import { Contents, unconverted } from './frames.ts'

const request: SubscribeRequest = {
  scope: { resource: 'core/configmaps' },
  selection: { labels: [], fields: [] },
  group: '',
  version: 'v1',
  resource: 'configmaps',
  format: { kind: 'json' },
  after: 0,
  epoch: '',
}
const value = Buffer.from('{"metadata":{"name":"a"}}')
const change: Change = {
  revision: 7,
  previous: 6,
  key: 'core/configmaps/d/a',
  after: { value, metadataStart: 12, metadataEnd: value.length - 1, facts: { labels: {}, fields: {} }, fingerprint: 3 },
}
const table: SubscribeRequest['format'] = { kind: 'table', profile: 'orch', version: 'v1', include: 'None', objectKind: '' }

test('subscriptions share a distributor while selection, version, format and schema are the same', () => {
  const distributors = new Distributors(() => unconverted)
  const first = distributors.acquire(request)
  expect(distributors.acquire({ ...request, after: 5 })).toBe(first)
  const others: Partial<SubscribeRequest>[] = [
    { version: 'v2' },
    { group: 'g' },
    { resource: 'maps' },
    { format: table },
    { fingerprint: 3 },
    { scope: { ...request.scope, namespace: 'd' } },
    { selection: { labels: [], fields: [{ field: 'metadata.name', operator: 'Equals', value: 'a' }] } },
  ]
  const all = [first, ...others.map((other) => distributors.acquire({ ...request, ...other }))]
  expect(new Set(all).size).toBe(all.length)
})

test('a distributor is dropped with its last subscription, and its filter with its last distributor', () => {
  const distributors = new Distributors(() => unconverted)
  const covering = () => [...distributors.covering(change.key)]
  const [one, same, other] = [{}, {}, { version: 'v2' }].map((part) => distributors.acquire({ ...request, ...part }))
  for (const distributor of [one, same, other]) {
    expect(covering()).toEqual([one?.filter])
    if (distributor !== undefined) distributors.release(distributor)
  }
  expect(covering()).toEqual([])
  expect(distributors.acquire(request)).not.toBe(one)
})

test('written events are delivered once to subscribers that had everything before', () => {
  const distributor = new Distributors(() => unconverted).acquire(request)
  const given: [number, WatchPart][] = []
  for (const sent of [6, 7, 8]) {
    distributor.subscribers.add({ sent, events: (part) => given.push([sent, part]), expired: () => expect.unreachable() })
  }
  distributor.write(change, 'ADDED', new Contents(0, () => {}), distributor.frames)
  distributor.give()
  const frames = Buffer.from(`{"type":"ADDED","object":${value}}\n`)
  const values = { list: [{ type: 'ADDED', key: change.key, revision: 7, json: value }], bytes: frames.length }
  expect(given).toEqual([[6, { kind: 'events', frames, count: 1, last: 7, values }]])
})

test('a lost change expires subscribers that had everything before', () => {
  const distributor = new Distributors(() => unconverted).acquire(request)
  const expired: [number, number][] = []
  for (const sent of [6, 7]) {
    distributor.subscribers.add({ sent, events: () => expect.unreachable(), expired: (oldest) => expired.push([sent, oldest]) })
  }
  distributor.expire(change)
  expect(expired).toEqual([[6, 7]])
})

test('CRD-95: an object of another schema than the subscribers request is named in JSON', () => {
  const distributors = new Distributors(() => unconverted)
  const olderIn = (fingerprint: number) => {
    const distributor = distributors.acquire({ ...request, fingerprint })
    distributor.write(change, 'ADDED', new Contents(0, () => {}), distributor.frames)
    return [distributor.isFormatted, distributor.frames.take().older]
  }
  expect([olderIn(3), olderIn(4)]).toEqual([
    [false, undefined],
    [false, [0]],
  ])
  expect(distributors.acquire({ ...request, format: table }).isFormatted).toBe(true)
})
