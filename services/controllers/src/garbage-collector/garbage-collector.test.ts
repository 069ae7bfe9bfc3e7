import { createClient, type DiscoveredResource, type Transport } from '@orch/client'
import { namesOf } from '@orch/core'
import { describe, expect, test } from 'vitest'
import { type FeedSink, followResource, readEvent } from './feed.ts'
import { createReactions } from './garbage-collector.ts'
import { Graph, type Node } from './graph.ts'
import type { Phase } from './observed.ts'
import type { Owners } from './owners.ts'

const configMaps: DiscoveredResource = { group: '', version: 'v1', plural: 'configmaps', namespaced: true, kind: 'ConfigMap', verbs: [] }
const secrets: DiscoveredResource = { ...configMaps, plural: 'secrets', kind: 'Secret' }

async function* aBody(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

function aNode(
  uid: string,
  owners: readonly string[] = [],
  { phase = 'live' as Phase, namespace = 'n', resource = configMaps } = {},
): Node {
  const references = owners.map((owner) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid: owner }))
  return { uid, name: uid, namespace, owners: references, phase, resource }
}

describe('the graph', () => {
  test('knows dependants by their owner’s uid, until they forget it or are gone', () => {
    const graph = new Graph()
    graph.put(aNode('a', ['top']))
    graph.put(aNode('b', ['top', 'a']))
    const uidsOf = (uid: string) => graph.namersOf(uid).map((node) => node.uid)
    expect([uidsOf('top'), uidsOf('a')]).toEqual([['a', 'b'], ['b']])
    expect(graph.put(aNode('b', ['a']))?.owners.length).toBe(2)
    graph.remove('a')
    expect([uidsOf('top'), uidsOf('a')]).toEqual([[], ['b']])
  })

  test('an owner in a namespace has no dependants outside of it', () => {
    const graph = new Graph()
    graph.put(aNode('here', ['top']))
    graph.put(aNode('there', ['top'], { namespace: 'other' }))
    expect(graph.dependantsOf(aNode('top')).map(({ uid }) => uid)).toEqual(['here'])
    expect(graph.dependantsOf({ ...aNode('top'), namespace: undefined }).map(({ uid }) => uid)).toEqual(['here', 'there'])
  })

  test('tells who waits for whom, in a cycle too', () => {
    const graph = new Graph()
    const waiting = (uid: string, owner: string, { blockOwnerDeletion = true, namespace = 'n' } = {}) => {
      const node = aNode(uid, [owner], { phase: 'foreground', namespace })
      return { ...node, owners: node.owners.map((reference) => ({ ...reference, blockOwnerDeletion })) }
    }
    const a = waiting('a', 'c')
    for (const node of [a, waiting('b', 'a'), waiting('c', 'b'), waiting('aside', 'a', { blockOwnerDeletion: false })]) graph.put(node)
    const awaited = () => ['a', 'b', 'c', 'aside', 'unknown'].filter((uid) => graph.isWaitingFor(a, uid))
    expect(awaited()).toEqual(['a', 'b', 'c'])
    graph.put({ ...waiting('b', 'a'), phase: 'deleting' })
    expect(awaited()).toEqual([])
    graph.put(waiting('b', 'a', { namespace: 'other' }))
    expect(awaited()).toEqual([])
    graph.put(waiting('b', 'x'))
    expect(awaited()).toEqual([])
  })
})

describe('the feed', () => {
  const toLine = (event: object) => Buffer.from(JSON.stringify(event))
  const printEvent = (type: string, metadata: object) =>
    toLine({ type, object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: 'n', ...metadata } } })

  function aSink() {
    const told: string[] = []
    const sink: FeedSink = {
      beginning: () => told.push('beginning'),
      changed: ({ uid, phase, owners }) => told.push(`changed ${uid} ${phase} ${owners.map((owner) => owner.uid).join()}`),
      settled: (uid) => told.push(`settled ${uid}`),
      removed: (uid) => told.push(`removed ${uid}`),
      synced: (uids) => told.push(`synced ${[...uids].join()}`),
    }
    return { sink, told }
  }

  test('tells objects with owners or that are going, and of all others no more than the uid', () => {
    const { sink, told } = aSink()
    const state = { version: '1', told: undefined }
    const text = 'a "ownerReferences": and a "deletionTimestamp": in a text'
    readEvent(printEvent('ADDED', { uid: 'a', resourceVersion: '2', labels: { uid: 'x' }, annotations: { text } }), state, sink)
    readEvent(printEvent('ADDED', { uid: 'b', resourceVersion: '3', ownerReferences: [{ uid: 'a' }] }), state, sink)
    const going = { deletionTimestamp: '2024-01-01T00:00:00Z' }
    readEvent(printEvent('MODIFIED', { uid: 'c', resourceVersion: '4', ...going, finalizers: ['orphan'] }), state, sink)
    readEvent(printEvent('MODIFIED', { uid: 'd', resourceVersion: '5', ...going, finalizers: ['foregroundDeletion'] }), state, sink)
    readEvent(printEvent('MODIFIED', { uid: 'e', resourceVersion: '6', ...going, finalizers: ['example.com/x'] }), state, sink)
    readEvent(printEvent('DELETED', { uid: 'b', resourceVersion: '7', ownerReferences: [{ uid: 'a' }] }), state, sink)
    expect(told).toEqual([
      'settled a',
      'changed b live a',
      'changed c orphan ',
      'changed d foreground ',
      'changed e deleting ',
      'removed b',
    ])
    expect(state.version).toBe('7')
  })

  test('asks for metadata alone, and goes on from the last version', async () => {
    const ending = new AbortController()
    const asked: { path: string; accept: string | undefined }[] = []
    const annotations = { 'example.com/initial-events-end': 'true' }
    const bookmark = `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '9', annotations } } })}\n`
    const transport: Transport = {
      async send({ path, headers }) {
        asked.push({ path, accept: headers?.['accept'] })
        if (asked.length === 2) ending.abort()
        return { status: 200, headers: {}, body: aBody(bookmark) }
      },
      close() {},
    }
    await followResource({
      client: createClient(transport),
      resource: configMaps,
      names: namesOf('orch'),
      sink: aSink().sink,
      signal: ending.signal,
      sleep: async () => {},
      random: () => 0,
      onError: (error) => expect.unreachable(String(error)),
    })
    const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.orch.io'
    const path = '/api/v1/configmaps?watch=true&allowWatchBookmarks=true&'
    expect(asked).toEqual([
      { path: `${path}sendInitialEvents=true&resourceVersionMatch=NotOlderThan`, accept },
      { path: `${path}resourceVersion=9`, accept },
    ])
  })

  test('an event that was cut off is not told, and comes again', async () => {
    const ending = new AbortController()
    const paths: string[] = []
    const whole = `${printEvent('ADDED', { uid: 'a', resourceVersion: '2', ownerReferences: [{ uid: 'top' }] })}\n`
    const bookmark = `${toLine({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '9', annotations: { 'x/initial-events-end': 'true' } } } })}\n`
    const cut =
      `${printEvent('MODIFIED', { uid: 'a', resourceVersion: '10', annotations: { a: 'b' }, ownerReferences: [{ uid: 'top' }] })}`.slice(
        0,
        180,
      )
    const transport: Transport = {
      async send({ path }) {
        paths.push(path)
        if (paths.length === 2) ending.abort()
        return { status: 200, headers: {}, body: aBody(whole + bookmark + cut) }
      },
      close() {},
    }
    const { sink, told } = aSink()
    const common = { names: namesOf('orch'), sleep: async () => {}, random: () => 0, onError: () => {} }
    await followResource({ ...common, client: createClient(transport), resource: configMaps, sink, signal: ending.signal })
    expect({ told: told.slice(0, 3), version: paths[1]?.split('&').at(-1) }).toEqual({
      told: ['beginning', 'changed a live top', 'synced a'],
      version: 'resourceVersion=9',
    })
  })

  test('a bookmark in the middle of everything is no version to go on from', () => {
    const { sink } = aSink()
    const state = { version: '', told: new Set<string>() }
    readEvent(toLine({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '7' } } }), state, sink)
    expect(state.version).toBe('')
  })

  test('has a version to go on from only when everything has been told', () => {
    const { sink, told } = aSink()
    const state = { version: '', told: new Set<string>() }
    readEvent(printEvent('ADDED', { uid: 'a', resourceVersion: '2' }), state, sink)
    readEvent(printEvent('ADDED', { uid: 'b', resourceVersion: '3', ownerReferences: [{ uid: 'a' }] }), state, sink)
    expect(state.version).toBe('')
    const annotations = { 'example.com/initial-events-end': 'true' }
    readEvent(toLine({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '9', annotations } } }), state, sink)
    expect({ told, version: state.version }).toEqual({ told: ['settled a', 'changed b live a', 'synced b'], version: '9' })
  })
})

describe('a change', () => {
  function someReactions(solid: readonly string[] = []) {
    const graph = new Graph()
    const looked: string[] = []
    const gone: string[] = []
    const owners: Pick<Owners, 'isKnownSolid' | 'setGone'> = {
      isKnownSolid: ({ uid }) => solid.includes(uid),
      setGone: (uid) => gone.push(uid),
    }
    const reactions = createReactions({ graph, owners: owners as Owners, enqueue: (uid) => looked.push(uid) })
    return { ...reactions, looked, gone }
  }

  test('asks for nothing where the owners are known to be there', () => {
    const { changed, looked } = someReactions(['top'])
    changed(aNode('a', ['top']))
    expect(looked).toEqual([])
    changed(aNode('a', ['top', 'unknown']))
    expect(looked).toEqual(['a'])
  })

  test('of an owner that starts to wait asks for it and for its dependants', () => {
    const { changed, looked } = someReactions(['top'])
    changed(aNode('a', ['top']))
    changed(aNode('top', [], { phase: 'foreground' }))
    expect(looked).toEqual(['a', 'top'])
  })

  test('of a dependant asks for the owner that waits', () => {
    const { changed, settled, removed, looked } = someReactions(['top'])
    changed(aNode('a', ['top']))
    changed(aNode('b', ['top']))
    changed(aNode('top', [], { phase: 'foreground' }))
    looked.length = 0
    settled('a')
    removed('b')
    expect(looked).toEqual(['top', 'top'])
  })

  test('of a resource that is told again asks for all that it may own', () => {
    const { changed, toldAgain, looked } = someReactions(['a', 'b'])
    changed(aNode('x', ['a'], { resource: secrets }))
    changed(aNode('y', [], { phase: 'deleting' }))
    toldAgain(secrets)
    expect(looked).toEqual([])
    toldAgain(configMaps)
    expect(looked).toEqual(['x'])
  })

  test('that is seen only after a gap counts as a removal', () => {
    const { changed, told, looked, gone } = someReactions(['a', 's'])
    changed(aNode('a', ['s']))
    changed(aNode('b', ['a']))
    changed(aNode('c', ['s'], { resource: secrets }))
    told(configMaps, new Set(['b']))
    expect({ looked, gone }).toEqual({ looked: ['b'], gone: ['a'] })
  })
})
