import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { LoggedRequest } from '@orch/core/contracts'
import { expect, onTestFinished, test } from 'vitest'
import type { Change } from '../../console/src/change.ts'
import { finalizerManagers, graphOf, type Owned } from '../../console/src/graph.ts'
import { hotLoopsOf, quarrelsOf } from '../../console/src/hot-loops.ts'
import { lanesOf, revisionAt } from '../../console/src/lanes.ts'
import { bytesOf, type DetailedRequest, replayEffect, replayProblem, traceIdOf } from '../../console/src/replay.ts'
import { readTrace as readInPage } from '../../console/src/trace-file.ts'
import { traceLines } from '../../console/src/trace-lines.ts'
import { isOfObject, lagOf, type OpenWatch, printLag } from '../../console/src/watch-lag.ts'
import { readTrace } from '../../services/orch/src/start/trace-file.ts'

const aChange = (revision: number, name: string, more: Partial<Change> = {}): Change => ({
  ...{ revision: String(revision), event: 'modified', kind: 'Pod', resource: 'pods', namespace: 'x', name },
  ...{ time: new Date(revision * 1_000).toISOString(), user: name === 'a' ? 'one' : 'other', ...more },
})

const aRequest = (more: Partial<DetailedRequest> = {}): DetailedRequest => ({
  ...{ id: 1, time: 1_000, user: 'operator', agent: '', verb: 'patch', path: '/api/v1/namespaces/x/pods/a', group: '', resource: 'pods' },
  ...{
    subresource: '',
    namespace: 'x',
    name: 'a',
    code: 200,
    changed: false,
    noop: true,
    method: 'PATCH',
    query: '',
    auditId: '',
    ...more,
  },
})

test('changes are divided into lanes by object, client or kind, over revisions or times', () => {
  const changes = [aChange(9, 'a'), aChange(5, 'b', { event: 'created' }), aChange(4, 'a'), aChange(1, 'a')]
  const { lanes, from, to } = lanesOf(changes, { by: 'objects', axis: 'revision', max: 8 })
  expect([from, to]).toEqual([1, 9])
  expect(lanes.map(({ name, count, marks }) => [name, count, marks.map(({ place }) => place)])).toEqual([
    ['Pod x/a', 3, [1, 0.375, 0]],
    ['Pod x/b', 1, [0.5]],
  ])
  expect(lanesOf(changes, { by: 'clients', axis: 'time', max: 1 }).lanes.map(({ name }) => name)).toEqual(['one'])
  expect(lanesOf(changes, { by: 'kinds', axis: 'time', max: 8 }).lanes.map(({ name, count }) => [name, count])).toEqual([['Pod', 4]])
})

test.each([
  [0, '1'],
  [0.49, '4'],
  [0.5, '5'],
  [1, '9'],
])('the place %d of an axis is the revision %s', (place, revision) => {
  const changes = [aChange(9, 'a'), aChange(5, 'b'), aChange(4, 'a'), aChange(1, 'a')]
  expect(revisionAt(changes, { from: 1, to: 9 }, 'revision', place)).toBe(revision)
})

const owned = (kind: string, uid: string, ...owners: string[]): Owned => ({
  kind,
  link: undefined,
  metadata: { name: uid, uid, ownerReferences: owners.map((owner) => ({ apiVersion: 'v1', kind: '', name: owner, uid: owner })) },
})

test('a graph has the owners at its left and all dependants at its right, each once', () => {
  const others = [owned('Pod', 'p1', 'rs'), owned('Pod', 'p2', 'rs'), owned('ReplicaSet', 'rs', 'd'), owned('Pod', 'loop', 'loop', 'p1')]
  const graph = graphOf(owned('Deployment', 'd'), [owned('App', 'app')], others, { depthMax: 3, boxesMax: 60 })
  expect(graph.boxes.map(({ name, column, row }) => [name, column, row])).toEqual([
    ['d', 1, 0],
    ['rs', 2, 0],
    ['p1', 3, 0],
    ['loop', 4, 0],
    ['p2', 3, 1],
    ['app', 0, 0],
  ])
  expect(graph.lines.map(([from, to]) => [graph.boxes[from]?.name, graph.boxes[to]?.name])).toEqual([
    ['p1', 'loop'],
    ['rs', 'p1'],
    ['rs', 'p2'],
    ['d', 'rs'],
    ['app', 'd'],
  ])
  expect([graph.columns, graph.rows, graph.left]).toEqual([5, 2, 0])
})

test('a graph with too many dependants shows the number of omitted ones', () => {
  const pods = Array.from({ length: 100 }, (_, index) => owned('Pod', `p${index}`, 'rs'))
  const graph = graphOf(owned('ReplicaSet', 'rs'), [], pods, { depthMax: 3, boxesMax: 60 })
  expect([graph.boxes.length, graph.left, graph.rows]).toEqual([60, 41, 59])
})

test('a finalizer has the managers from managedFields', () => {
  const fieldsV1 = { 'f:metadata': { 'f:finalizers': { '.': {}, 'v:"example.com/a"': {} } } }
  const object = {
    metadata: {
      name: 'a',
      managedFields: [
        { manager: 'operator', fieldsV1 },
        { manager: 'other', fieldsV1: {} },
      ],
    },
  }
  expect(finalizerManagers(object, 'example.com/a')).toEqual(['operator'])
  expect(finalizerManagers(object, 'example.com/b')).toEqual([])
})

const aWatch = (more: Partial<OpenWatch> = {}): OpenWatch => ({
  ...{ user: 'operator', path: '/api/v1/namespaces/x/pods', request: 7, revision: 10, unreadBytes: 0, isHeld: false, ...more },
})

test.each([
  [aWatch(), 12, 10, ''],
  [aWatch({ isHeld: true }), 12, 10, 'held, 2 revisions behind'],
  [aWatch({ unreadBytes: 4_000 }), 11, 10, '4 KB unread, 1 revision behind'],
  // The page was already at 10 when the store was at 11.
  [aWatch(), 12, 11, '2 revisions behind'],
  [aWatch({ request: 8 }), 12, 11, ''],
])('the lag of %j at revision %i, after a position at %i, is "%s"', (watch, revision, before, text) => {
  expect(printLag(lagOf(watch, revision, { revision: before, items: [aWatch()] }))).toBe(text)
})

test.each([
  ['/api/v1/pods', true],
  ['/api/v1/namespaces/x/pods', true],
  ['/api/v1/watch/namespaces/x/pods/a', true],
  ['/api/v1/namespaces/x/pods/a', true],
  ['/api/v1/namespaces/x/pods/b', false],
  ['/api/v1/namespaces/y/pods', false],
  ['/api/v1/nodes', false],
])('a watch of %s may include the Pod a in x: %s', (path, expected) => {
  const kind = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', isNamespaced: true, verbs: [], shortNames: [] }
  expect(isOfObject(aWatch({ path }), kind, 'x', 'a')).toBe(expected)
})

test.each([
  [{}, ''],
  [{ watch: 1 }, 'a watch has no end'],
  [{ subresource: 'exec' }, 'exec needs a connection of its own'],
  [{ path: `/${'x'.repeat(999)}` }, 'its path is not kept whole'],
  [{ body: { contentType: '', bytes: 70_000, isKept: false } }, 'its body of 70,000 bytes is not kept'],
])('a request with %j cannot be repeated, with the reason "%s"', (more, problem) => {
  expect(replayProblem(aRequest(more))).toBe(problem)
})

test.each([
  ['GET', 'get', 'It reads pods x/a, and changes nothing.'],
  ['DELETE', 'delete', 'It deletes pods x/a, if it is there again.'],
  ['DELETE', 'deletecollection', 'It deletes all of pods x/a once more.'],
  ['POST', 'create', 'It creates pods x/a once more, or is refused if that is there.'],
  ['PATCH', 'patch', 'It changes pods x/a again, to what the body says.'],
])('the effect of %s %s is shown before it is repeated', (method, verb, effect) => {
  expect(replayEffect(aRequest({ method, verb }))).toBe(effect)
})

test('bodies keep their bytes, and a trace keeps its identifier', () => {
  expect([...bytesOf({ contentType: '', bytes: 2, isKept: true, base64: '/wA=' })]).toEqual([255, 0])
  expect([...bytesOf({ contentType: '', bytes: 2, isKept: true, text: 'é' })]).toEqual([195, 169])
  expect(traceIdOf('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01')).toBe('0af7651916cd43dd8448eb211c80319c')
})

test('a client that repeats one request more than twice a second for ten seconds is a hot loop, also among slow requests', () => {
  const requests: LoggedRequest[] = Array.from({ length: 40 }, (_, index) => aRequest({ id: index, time: index * 250 }))
  const lists = Array.from({ length: 15 }, (_, index) => aRequest({ verb: 'list', time: index * 600 }))
  const slow = aRequest({ verb: 'update', time: -30_000, durationMs: 39_000 })
  const endOf = ({ time, durationMs = 0 }: LoggedRequest) => time + durationMs
  const newestFirst = [...requests, ...lists, slow].sort((one, other) => endOf(other) - endOf(one))
  expect(hotLoopsOf(newestFirst).map(({ what, perSecond, noops }) => [what, perSecond, noops])).toEqual([['patch pods a', 4, 40]])
})

test('clients that change one object in turns are named, and a single client is not', () => {
  const changes = Array.from({ length: 6 }, (_, index) => aRequest({ user: index % 2 === 0 ? 'one' : 'other', time: index, changed: true }))
  const alone = Array.from({ length: 6 }, (_, index) => aRequest({ name: 'b', time: index, changed: true }))
  const reads = Array.from({ length: 6 }, (_, index) => aRequest({ user: `reader-${index}`, time: index }))
  const found = quarrelsOf([...changes, ...alone, ...reads].sort((one, other) => other.time - one.time))
  expect(found.map(({ users, changes: count, newest }) => [users, count, newest.name])).toEqual([[['one', 'other'], 6, 'a']])
})

test('an exported file is a trace for orch trace show and for the page', async () => {
  const metadata = { name: 'a', namespace: 'x', uid: 'u' }
  const [before, after] = [1, 2].map((size) => ({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { size } }))
  const changes = [aChange(1, 'a', { event: 'created', after: before }), aChange(2, 'a', { before, after })]
  const head = { product: 'the console', profile: 'kubernetes', time: '2026-11-29T10:00:00Z', revision: 2 }
  const lines = traceLines({ ...head, requests: [aRequest()], changes, left: 0 })
  const folder = mkdtempSync(join(tmpdir(), 'export-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const bytes = gzipSync(`${lines.join('\n')}\n`)
  writeFileSync(join(folder, 'a.gz'), bytes)
  const onDisk = await readTrace(join(folder, 'a.gz'))
  expect(onDisk.changes.map(({ revision, kind, event }) => [revision, kind, event])).toEqual([
    [1, 'Pod', 'created'],
    [2, 'Pod', 'modified'],
  ])
  expect([onDisk.objects, onDisk.requests.length, onDisk.head.revision]).toEqual([[after], 1, 2])
  const inPage = await readInPage(new Blob([Uint8Array.from(bytes)]))
  expect(inPage.changes.map((change) => [change.revision, change.before, change.after])).toEqual([
    ['2', before, after],
    ['1', undefined, before],
  ])
  expect(inPage.objects).toEqual([after])
})

test.each([
  ['{"kind":"Pod"}', 'it is not a trace'],
  ['{"kind":"Trace","format":2}', 'its format is 2, and this console reads 1'],
  ['{"kind":"Trace","format":1}', 'its end is missing'],
  ['{"kind":"Trace","format":1}\nnull', 'one of its lines is not an object'],
  ['{"kind":"Trace","format":1}\n{"kind":"Object","object":null}', 'one of its objects has no name'],
])('the page refuses a file with %s', async (text, problem) => {
  await expect(readInPage(new Blob([Uint8Array.from(gzipSync(`${text}\n`))]))).rejects.toThrow(problem)
})
