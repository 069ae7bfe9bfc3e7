import { createClient, type DiscoveredResource, type Transport } from '@orch/client'
import { StatusError } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { describe, expect, test } from 'vitest'
import { configMaps } from '../controller-testing.ts'
import { createReactions } from './garbage-collector.ts'
import { Graph, type Node } from './graph.ts'
import { type MetadataSink, readEvent, reflectMetadata } from './metadata-reflector.ts'
import type { Phase } from './observed.ts'
import type { Owners } from './owners.ts'

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
  test('finds dependants by the uid of their owner, until they lose the reference or are deleted', () => {
    const graph = new Graph()
    graph.put(aNode('a', ['top']))
    graph.put(aNode('b', ['top', 'a']))
    const uidsOf = (uid: string) => graph.namersOf(uid).map((node) => node.uid)
    expect([uidsOf('top'), uidsOf('a')]).toEqual([['a', 'b'], ['b']])
    expect(graph.put(aNode('b', ['a']))?.owners.length).toBe(2)
    graph.remove('a')
    expect([uidsOf('top'), uidsOf('a')]).toEqual([[], ['b']])
  })

  test('has no dependants of an owner in a namespace outside of that namespace', () => {
    const graph = new Graph()
    graph.put(aNode('here', ['top']))
    graph.put(aNode('there', ['top'], { namespace: 'other' }))
    expect(graph.dependantsOf(aNode('top')).map(({ uid }) => uid)).toEqual(['here'])
    expect(graph.dependantsOf({ ...aNode('top'), namespace: undefined }).map(({ uid }) => uid)).toEqual(['here', 'there'])
  })

  test('replaces a node that is put again, and drops a removed node', () => {
    const graph = new Graph()
    const [a, b] = [aNode('a', ['top']), aNode('b', ['top', 'side'])]
    expect([graph.put(a), graph.put(b), graph.put(a), graph.get('a')]).toEqual([undefined, undefined, a, a])
    expect([graph.remove('a'), graph.remove('a'), graph.get('a')]).toEqual([a, undefined, undefined])
    expect(graph.namersOf('top')).toEqual([b])
    expect(graph.namersOf('side')).toEqual([b])
    graph.remove('b')
    expect([graph.namersOf('top'), graph.namersOf('none')]).toEqual([[], []])
    graph.put(a)
    expect(graph.namersOf('top')).toEqual([a])
  })

  test('stores equal references of dependants once', () => {
    const graph = new Graph()
    for (const uid of ['a', 'b', 'a']) graph.put(aNode(uid, ['top']))
    expect(graph.get('a')?.owners).toBe(graph.get('b')?.owners)
  })

  test('counts an object that names an owner twice as one dependant, and removes both references', () => {
    const graph = new Graph()
    const twice = aNode('a', ['top', 'top'])
    graph.put(twice)
    expect(graph.namersOf('top')).toEqual([twice])
    graph.remove('a')
    expect(graph.namersOf('top')).toEqual([])
  })

  test('finds dependants that block their owner, and only in the owner’s namespace', () => {
    const graph = new Graph()
    const blocking = (uid: string, owners: readonly string[], blockers: readonly string[], namespace = 'n') => {
      const node = aNode(uid, owners, { namespace })
      graph.put({ ...node, owners: node.owners.map((one) => ({ ...one, blockOwnerDeletion: blockers.includes(one.uid) })) })
    }
    blocking('a', ['side', 'top'], ['top'])
    blocking('b', ['side', 'top'], ['side'])
    blocking('c', ['top'], ['top'], 'other')
    graph.put(aNode('d', ['top']))
    expect(graph.blockersOf(aNode('top')).map(({ uid }) => uid)).toEqual(['a'])
    expect(graph.blockersOf(aNode('side')).map(({ uid }) => uid)).toEqual(['b'])
    expect(graph.blockersOf(aNode('none'))).toEqual([])
  })

  test('finds objects that wait for one another, also in a cycle', () => {
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

describe('the metadata reflector', () => {
  const turn = () => undefined

  const toLine = (event: object) => Buffer.from(JSON.stringify(event))
  const printEvent = (type: string, metadata: object) =>
    toLine({ type, object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: 'n', ...metadata } } })

  function aSink() {
    const reported: string[] = []
    const sink: MetadataSink = {
      beginning: () => reported.push('beginning'),
      changed: ({ uid, phase, owners }) => reported.push(`changed ${uid} ${phase} ${owners.map((owner) => owner.uid).join()}`),
      settled: (uid) => reported.push(`settled ${uid}`),
      created: ({ uid, namespace, name }) => reported.push(`created ${uid} ${namespace} ${name}`),
      removed: (uid) => reported.push(`removed ${uid}`),
      synced: (uids) => reported.push(`synced ${[...uids].join()}`),
    }
    return { sink, reported }
  }

  test('reports objects with owners or under deletion, and only the uid of all other objects', () => {
    const { sink, reported } = aSink()
    const state = { version: '1', reported: undefined }
    const text = 'a "ownerReferences": and a "deletionTimestamp": in a text'
    readEvent(printEvent('ADDED', { uid: 'a', resourceVersion: '2', labels: { uid: 'x' }, annotations: { text } }), state, sink)
    readEvent(printEvent('ADDED', { uid: 'b', resourceVersion: '3', ownerReferences: [{ uid: 'a' }] }), state, sink)
    const going = { deletionTimestamp: '2024-01-01T00:00:00Z' }
    readEvent(printEvent('MODIFIED', { uid: 'c', resourceVersion: '4', ...going, finalizers: ['orphan'] }), state, sink)
    readEvent(printEvent('MODIFIED', { uid: 'd', resourceVersion: '5', ...going, finalizers: ['foregroundDeletion'] }), state, sink)
    readEvent(printEvent('MODIFIED', { uid: 'e', resourceVersion: '6', ...going, finalizers: ['example.com/x'] }), state, sink)
    readEvent(printEvent('DELETED', { uid: 'b', resourceVersion: '7', ownerReferences: [{ uid: 'a' }] }), state, sink)
    expect(reported).toEqual([
      'settled a',
      'created a n a',
      'changed b live a',
      'changed c orphan ',
      'changed d foreground ',
      'changed e deleting ',
      'removed b',
    ])
    expect(state.version).toBe('7')
  })

  test('reports events without text like events with text', async () => {
    const { sink, reported } = aSink()
    const ending = new AbortController()
    const owned = { uid: 'b', name: 'b', resourceVersion: '3', ownerReferences: [{ uid: 'a' }] }
    const states = [
      ['ADDED', { uid: 'a', name: 'a', namespace: 'n', resourceVersion: '2' }],
      ['MODIFIED', owned],
      ['DELETED', { ...owned, resourceVersion: '4' }],
    ] as const
    const list = states.map(([type, metadata]) => ({ type, key: '', revision: 0, json: Buffer.from(JSON.stringify(metadata)) }))
    const objectOf = ({ json }: { json: Uint8Array }) => ({ apiVersion: '', kind: '', metadata: JSON.parse(Buffer.from(json).toString()) })
    const paths: string[] = []
    const transport: Transport = {
      async send({ path }) {
        paths.push(path)
        if (paths.length > 1) ending.abort()
        const annotations = { 'example.com/initial-events-end': 'true' }
        const bookmark = `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '1', annotations } } })}\n`
        const pieces = (async function* () {
          yield Buffer.from(bookmark)
          yield { list, length: 0, objectOf }
        })()
        return { status: 200, headers: {}, body: aBody('unread'), pieces }
      },
      close() {},
    }
    const { signal } = ending
    const options = { resource: secrets, sink, signal, random: () => 0, turn, sleep: async () => {}, onError: () => expect.unreachable() }
    await reflectMetadata({ ...options, client: createClient(transport), names: namesOf('orch') })
    expect(reported.slice(-4)).toEqual(['settled a', 'created a n a', 'changed b live a', 'removed b'])
    expect(paths[1]).toContain('resourceVersion=4')
  })

  test('reports a creation after the first list, at cluster scope too, and ignores a name that JSON escapes', () => {
    const { sink, reported } = aSink()
    const listing = { version: '', reported: new Set<string>() }
    readEvent(printEvent('ADDED', { uid: 'a' }), listing, sink)
    const state = { version: '1', reported: undefined }
    const metadata = { name: 'b', uid: 'b', labels: { namespace: 'x' } }
    readEvent(toLine({ type: 'ADDED', object: { kind: 'Node', metadata } }), state, sink)
    readEvent(printEvent('ADDED', { name: 'c"', uid: 'c' }), state, sink)
    readEvent(printEvent('MODIFIED', { uid: 'a' }), state, sink)
    expect(reported).toEqual(['settled a', 'settled b', 'created b undefined b', 'settled c', 'settled a'])
  })

  test('reads the uid and version of the object itself if its metadata are sorted by name, as in custom resources', () => {
    const { sink, reported } = aSink()
    const state = { version: '1', reported: undefined }
    const sorted = (type: string, uid: string, metadata: object) =>
      toLine({ type, object: { kind: 'PartialObjectMetadata', metadata: { ...metadata, resourceVersion: uid, uid } } })
    const labels = { resourceVersion: '9', uid: 'x' }
    readEvent(sorted('ADDED', '2', { labels, name: 'a', ownerReferences: [{ uid: 'o' }] }), state, sink)
    readEvent(sorted('MODIFIED', '3', { labels, name: 'a' }), state, sink)
    readEvent(sorted('DELETED', '4', { name: 'a', ownerReferences: [{ uid: 'o' }] }), state, sink)
    expect(reported).toEqual(['changed 2 live o', 'settled 3', 'removed 4'])
    expect(state.version).toBe('4')
  })

  test('requests metadata alone, and resumes from the last version', async () => {
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
    await reflectMetadata({
      client: createClient(transport),
      resource: configMaps,
      names: namesOf('orch'),
      sink: aSink().sink,
      signal: ending.signal,
      sleep: async () => {},
      random: () => 0,
      turn,
      onError: (error) => expect.unreachable(String(error)),
    })
    const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.orch.io,application/json'
    const path = '/api/v1/configmaps?watch=true&allowWatchBookmarks=true&'
    expect(asked).toEqual([
      { path: `${path}sendInitialEvents=true&resourceVersionMatch=NotOlderThan`, accept },
      { path: `${path}resourceVersion=9`, accept },
    ])
  })

  test('does not report an event that was cut off, and receives it with the next request', async () => {
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
    const { sink, reported } = aSink()
    const common = { names: namesOf('orch'), sleep: async () => {}, random: () => 0, turn, onError: () => {} }
    await reflectMetadata({ ...common, client: createClient(transport), resource: configMaps, sink, signal: ending.signal })
    expect({ reported: reported.slice(0, 3), version: paths[1]?.split('&').at(-1) }).toEqual({
      reported: ['beginning', 'changed a live top', 'synced a'],
      version: 'resourceVersion=9',
    })
  })

  test.each(['events', 'a list, as watches without a revision are refused'])('reads each object in its turn, of %s', async (form) => {
    const ending = new AbortController()
    const items = ['a', 'b', 'c'].map((uid) => ({ metadata: { uid, ownerReferences: [{ uid: 'top' }] } }))
    const lines = items.map(({ metadata }) => `${printEvent('ADDED', metadata)}\n`)
    const transport: Transport = {
      async send({ path }) {
        if (form === 'events') return { status: 200, headers: {}, body: aBody(lines.join('')) }
        if (path.includes('sendInitialEvents')) return { status: 422, headers: {}, body: aBody('{}') }
        if (path.includes('watch=true')) ending.abort()
        return { status: 200, headers: {}, body: aBody(JSON.stringify({ metadata: { resourceVersion: '5' }, items })) }
      },
      close() {},
    }
    const { sink, reported } = aSink()
    const begun: number[] = []
    let passed = 0
    const nextTurn = async () => {
      begun.push(passed)
      await new Promise((resolve) => setImmediate(resolve))
      passed += 1
    }
    const common = { names: namesOf('orch'), sleep: async () => ending.abort(), random: () => 0, turn: nextTurn, onError: () => {} }
    await reflectMetadata({ ...common, client: createClient(transport), resource: configMaps, sink, signal: ending.signal })
    expect(begun.slice(0, 3)).toEqual([0, 1, 2])
    expect(reported.filter((one) => one.startsWith('changed'))).toEqual(['changed a live top', 'changed b live top', 'changed c live top'])
  })

  test('that has ended while it waits for a turn reports no further object', async () => {
    const ending = new AbortController()
    const lines = ['a', 'b'].map((uid) => `${printEvent('ADDED', { uid, ownerReferences: [{ uid: 'top' }] })}\n`)
    const transport: Transport = { send: async () => ({ status: 200, headers: {}, body: aBody(lines.join('')) }), close() {} }
    const { sink, reported } = aSink()
    let turns = 0
    const nextTurn = async () => {
      turns += 1
      if (turns === lines.length) ending.abort()
    }
    const common = { names: namesOf('orch'), sleep: async () => expect.unreachable(), random: () => 0, turn: nextTurn, onError: () => {} }
    await reflectMetadata({ ...common, client: createClient(transport), resource: configMaps, sink, signal: ending.signal })
    expect({ turns, reported }).toEqual({ turns: 2, reported: ['beginning', 'changed a live top'] })
  })

  /** The requests, reports and delays of a reflector whose server gives these answers in order. */
  async function reflected(answers: readonly (Error | readonly (Buffer | string)[])[], random = 0) {
    const ending = new AbortController()
    const starts: (string | undefined)[] = []
    const errors: string[] = []
    const delays: number[] = []
    const { sink, reported } = aSink()
    const transport: Transport = {
      async send({ path }) {
        starts.push(/watch=true&allowWatchBookmarks=true&(.*)$/.exec(path)?.[1])
        const answer = answers[starts.length - 1] ?? []
        if (starts.length > answers.length) ending.abort()
        if (answer instanceof Error) throw answer
        const body = (async function* () {
          for (const chunk of answer) yield new Uint8Array(Buffer.from(chunk))
        })()
        return { status: 200, headers: {}, body }
      },
      close() {},
    }
    const sleep = async (delayMs: number) => void delays.push(delayMs)
    const onError = (error: unknown) => void errors.push((error as Error).message)
    const common = { names: namesOf('orch'), resource: configMaps, random: () => random, turn, signal: ending.signal }
    await reflectMetadata({ ...common, client: createClient(transport), sink, sleep, onError })
    return { starts, errors, delays, reported }
  }

  const everything = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan'
  const bookmark = (resourceVersion: string, annotations?: object) =>
    `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion, annotations } } })}\n`
  const end = (resourceVersion: string) => bookmark(resourceVersion, { 'orch.io/initial-events-end': 'true' })
  const failure = (code: number) => `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code, message: `status ${code}` } })}\n`

  test('delays requests after failures more and more, up to a bound, and sends the next one soon after an answer', async () => {
    const failures = Array.from({ length: 10 }, () => new Error('away'))
    const { starts, errors, delays, reported } = await reflected([...failures, [end('5')], ...failures.slice(0, 2)])
    expect(delays).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 15_000, 15_000, 100, 200, 400])
    expect(errors).toEqual(Array(12).fill('away'))
    expect(starts).toEqual([...Array(11).fill(everything), ...Array(3).fill('resourceVersion=5')])
    expect(reported).toEqual([...Array(11).fill('beginning'), 'synced '])
    expect((await reflected([new Error('away')], 1)).delays).toEqual([200, 400])
  })

  test.each([410, 504])(
    'lists again at once after an expired version, reported by %i; a response without a version is a failure',
    async (code) => {
      const { starts, errors, delays } = await reflected([[failure(code)], [end('5')], [failure(code)], [end('9')]])
      expect(starts).toEqual([everything, everything, 'resourceVersion=5', everything, 'resourceVersion=9'])
      expect([errors, delays]).toEqual([[`status ${code}`], [100, 100]])
    },
  )

  const listed = (resourceVersion: string, items: readonly object[] | null) => [
    JSON.stringify({
      kind: 'List',
      apiVersion: 'v1',
      metadata: { resourceVersion },
      items: items?.map((metadata) => ({ metadata })) ?? null,
    }),
  ]
  const list = undefined

  test.each([400, 422])('sends a list if a server refuses a streaming list with %i, now and after an expired version', async (code) => {
    const refusal = new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code })
    const items = [{ uid: 'a', ownerReferences: [{ uid: 'top' }] }, { uid: 'b' }, { uid: 'c', deletionTimestamp: '2026-01-01T00:00:00Z' }]
    const { starts, errors, reported } = await reflected([refusal, listed('5', items), [failure(410)], listed('9', null), [bookmark('10')]])
    expect(starts).toEqual([everything, list, 'resourceVersion=5', list, 'resourceVersion=9', 'resourceVersion=10'])
    expect(reported).toEqual(['beginning', 'beginning', 'changed a live top', 'changed c deleting ', 'synced a,c', 'beginning', 'synced '])
    expect(errors).toEqual([])
  })

  test('retries a refused list later', async () => {
    const refusal = new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 422, message: 'no' })
    const { starts, errors, delays } = await reflected([refusal, refusal, listed('5', [])])
    expect([starts, errors, delays]).toEqual([[everything, list, list, 'resourceVersion=5'], ['no'], [100, 100]])
  })

  test('treats an event that is printed differently as the same event', async () => {
    const metadata = { resourceVersion: '6', uid: 'a', ownerReferences: [{ uid: 'top' }] }
    const spaced = `{ "object": {"metadata": ${JSON.stringify(metadata)}}, "type": "ADDED" }\n`
    const { starts, reported } = await reflected([[end('5'), spaced]])
    expect([starts.at(-1), reported.at(-1)]).toEqual(['resourceVersion=6', 'changed a live top'])
  })

  test('resumes from the last version after another error', async () => {
    const { starts, errors, delays } = await reflected([[end('5')], [bookmark('7'), failure(500)]])
    expect(starts).toEqual([everything, 'resourceVersion=5', 'resourceVersion=7'])
    expect([errors, delays]).toEqual([['status 500'], [100, 200]])
  })

  test('retries later after an answer without events, and at once after an answer with events', async () => {
    expect((await reflected([[], []])).delays).toEqual([100, 200, 400])
    expect((await reflected([[end('5')], [bookmark('6')]])).delays).toEqual([100])
    // Before the list is complete no version is valid for resuming.
    expect((await reflected([[bookmark('6')]])).delays).toEqual([100, 200])
  })

  test('accepts lines in pieces of any size, and ignores empty lines', async () => {
    const line = `${printEvent('ADDED', { uid: 'a', resourceVersion: '2', ownerReferences: [{ uid: 'top' }] })}\n`
    const whole = `\n${line}\n\n${end('9')}`
    const pieces = [whole.slice(0, 20), whole.slice(20, 21), '', whole.slice(21, 60), whole.slice(60)]
    const bytes = [...whole]
    for (const chunks of [[whole], pieces, bytes]) {
      expect((await reflected([chunks])).reported).toEqual(['beginning', 'changed a live top', 'synced a'])
    }
  })

  test('treats an object without owners that is not being deleted as settled, with any other fields', () => {
    const { sink, reported } = aSink()
    const state = { version: '1', reported: undefined }
    readEvent(printEvent('MODIFIED', { uid: 'a', resourceVersion: '2', ownerReferences: [] }), state, sink)
    readEvent(printEvent('MODIFIED', { uid: 'b', resourceVersion: '3', deletionTimestamp: null }), state, sink)
    readEvent(toLine({ type: 'ADDED', object: { metadata: {} } }), state, sink)
    expect([reported, state.version]).toEqual([['settled a', 'settled b', 'settled '], ''])
  })

  test('resumes from a bookmark after the complete list, which does not end the list again', () => {
    const { sink, reported } = aSink()
    const state = { version: '7', reported: undefined }
    readEvent(Buffer.from(end('8')), state, sink)
    expect([reported, state.version]).toEqual([[], '8'])
  })

  test('does not resume from a bookmark in the middle of the initial state', () => {
    const { sink } = aSink()
    const state = { version: '', reported: new Set<string>() }
    readEvent(toLine({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '7' } } }), state, sink)
    expect(state.version).toBe('')
  })

  test('resumes only from the version of a complete list', () => {
    const { sink, reported } = aSink()
    const state = { version: '', reported: new Set<string>() }
    readEvent(printEvent('ADDED', { uid: 'a', resourceVersion: '2' }), state, sink)
    readEvent(printEvent('ADDED', { uid: 'b', resourceVersion: '3', ownerReferences: [{ uid: 'a' }] }), state, sink)
    expect(state.version).toBe('')
    const annotations = { 'example.com/initial-events-end': 'true' }
    readEvent(toLine({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '9', annotations } } }), state, sink)
    expect({ reported, version: state.version }).toEqual({ reported: ['settled a', 'changed b live a', 'synced b'], version: '9' })
  })
})

describe('a change', () => {
  function someReactions(solid: readonly string[] = []) {
    const graph = new Graph()
    const looked: string[] = []
    const gone: string[] = []
    const named: string[] = []
    const owners: Pick<Owners, 'isKnownSolid' | 'setGone'> = {
      isKnownSolid: ({ uid }) => solid.includes(uid),
      setGone: (uid, isNamed) => {
        gone.push(uid)
        if (isNamed) named.push(uid)
      },
    }
    const reactions = createReactions({ graph, owners: owners as Owners, enqueue: (uid) => looked.push(uid) })
    return { ...reactions, looked, gone, named }
  }

  test('enqueues nothing if the owners are known to exist', () => {
    const { changed, looked } = someReactions(['top'])
    changed(aNode('a', ['top']))
    expect(looked).toEqual([])
    changed(aNode('a', ['top', 'unknown']))
    expect(looked).toEqual(['a'])
  })

  test('enqueues nothing if the graph has the owner in the referenced namespace, and the owner is not being deleted', () => {
    const { changed, looked } = someReactions([])
    changed(aNode('top', ['other']))
    looked.length = 0
    changed(aNode('a', ['top']))
    changed(aNode('b', ['top'], { namespace: 'elsewhere' }))
    changed(aNode('c', ['unknown']))
    expect(looked).toEqual(['b', 'c'])
  })

  test('of an owner that starts to wait enqueues the owner and its dependants', () => {
    const { changed, looked } = someReactions(['top'])
    changed(aNode('a', ['top']))
    changed(aNode('top', [], { phase: 'foreground' }))
    expect(looked).toEqual(['a', 'top'])
  })

  test('of a dependant enqueues its waiting owner', () => {
    const { changed, settled, removed, looked } = someReactions(['top'])
    changed(aNode('a', ['top']))
    changed(aNode('b', ['top']))
    changed(aNode('top', [], { phase: 'foreground' }))
    looked.length = 0
    settled('a')
    removed('b')
    expect(looked).toEqual(['top', 'top'])
  })

  test('of an object under deletion enqueues only the object, to process its finalizer', () => {
    const { changed, looked } = someReactions()
    changed(aNode('a', ['top'], { phase: 'deleting' }))
    expect(looked).toEqual([])
    changed(aNode('a', ['top'], { phase: 'orphan' }))
    expect(looked).toEqual(['a'])
    looked.length = 0
    changed(aNode('b', [], { phase: 'foreground' }))
    expect(looked).toEqual(['b'])
  })

  test('of an owner that waits already does not enqueue its dependants again', () => {
    const { changed, looked } = someReactions(['top'])
    changed(aNode('a', ['top']))
    changed(aNode('top', [], { phase: 'foreground' }))
    looked.length = 0
    changed(aNode('top', [], { phase: 'foreground' }))
    expect(looked).toEqual(['top'])
    looked.length = 0
    changed(aNode('top', [], { phase: 'deleting' }))
    changed(aNode('other', [], { phase: 'deleting' }))
    expect(looked).toEqual([])
  })

  test('that adds a waiting owner to an object enqueues both, and a change that removes it enqueues the owner', () => {
    const { changed, looked } = someReactions(['top', 'other'])
    changed(aNode('top', [], { phase: 'foreground' }))
    looked.length = 0
    changed(aNode('a', ['top']))
    expect(looked).toEqual(['top', 'a'])
    looked.length = 0
    changed(aNode('a', ['other']))
    expect(looked).toEqual(['top'])
  })

  test('of a deleted owner enqueues all objects that name it, and returns true if any do', () => {
    const { changed, removed, settled, looked, gone, named } = someReactions(['top'])
    changed(aNode('a', ['top']))
    changed(aNode('b', ['top']))
    removed('top')
    removed('other')
    expect([looked, gone, named]).toEqual([['a', 'b'], ['top', 'other'], ['top']])
    looked.length = 0
    settled('a')
    settled('unknown')
    removed('top')
    expect(looked).toEqual(['b'])
  })

  test('of a relisted resource requests all objects that it may own', () => {
    const { changed, listedAgain, looked } = someReactions(['a', 'b'])
    changed(aNode('x', ['a'], { resource: secrets }))
    changed(aNode('y', [], { phase: 'deleting' }))
    listedAgain(secrets)
    expect(looked).toEqual([])
    listedAgain(configMaps)
    expect(looked).toEqual(['x'])
  })

  test('that is seen only after a gap counts as a removal', () => {
    const { changed, reported, looked, gone } = someReactions(['a', 's'])
    changed(aNode('a', ['s']))
    changed(aNode('b', ['a']))
    changed(aNode('c', ['s'], { resource: secrets }))
    reported(configMaps, new Set(['b']))
    expect({ looked, gone }).toEqual({ looked: ['b'], gone: ['a'] })
  })
})
