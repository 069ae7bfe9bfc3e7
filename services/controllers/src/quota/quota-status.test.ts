import type { Transport, TransportRequest, TransportResponse } from '@orch/client'
import { conflict } from '@orch/core/meta'
import { createFakeClock } from '@orch/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { answer, testContext } from '../controller-testing.ts'
import { quotaController, type ServedResources } from './quota-controller.ts'

const within = { timeout: 90_000 }
const served = (plural: string, more: object = {}) => ({
  ...{ group: '', version: 'v1', plural, isNamespaced: true, verbs: ['list', 'watch'] },
  ...more,
})
const catalogue = {
  resources: [
    ...[served('pods'), served('pods', { version: 'v2' }), served('secrets'), served('widgets', { group: 'example.com' })],
    ...[served('nodes', { isNamespaced: false }), served('silents', { verbs: ['list'] }), served('hidden', { verbs: ['watch'] })],
  ],
} as unknown as ServedResources

interface TestObject {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly [field: string]: unknown }
}
const anObject = (name: string, namespace: string, more: object = {}): TestObject & object => ({
  ...{ metadata: { name, namespace, uid: name, resourceVersion: '4' } },
  ...more,
})
const aQuota = (name: string, namespace: string, hard: Record<string, string>, status?: object) =>
  anObject(name, namespace, { apiVersion: 'v1', kind: 'ResourceQuota', spec: { hard }, ...(status && { status }) })

/** A body with the pushed bytes, which ends with the signal. */
function aStream(signal: AbortSignal | undefined) {
  const lines: string[] = []
  const isOpen = () => signal?.aborted !== true
  let wake = () => {}
  signal?.addEventListener('abort', () => wake())
  const body = (async function* () {
    while (isOpen()) {
      for (const line of lines.splice(0)) yield new TextEncoder().encode(`${line}\n`)
      if (isOpen() && lines.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  })()
  return {
    body,
    push(line: string) {
      lines.push(line)
      wake()
    },
  }
}

const placeOf = (path: string) => path.replace(/\?.*/, '')

/** The controller with a server that has these collections, by path; others are empty. */
function aController(collections: Record<string, object[]>, put: (attempt: number) => TransportResponse = () => answer(200, {})) {
  const written: { path: string; query: string; body: { spec?: object; status: { hard: object; used: object } } }[] = []
  const watches = new Map<string, { push(line: string): void; signal: AbortSignal | undefined }>()
  const listed: string[] = []
  const ending = new AbortController()
  const clock = createFakeClock()
  const send: Transport['send'] = async ({ method, path, body, signal }: TransportRequest) => {
    const place = placeOf(path)
    if (method === 'PUT') {
      written.push({ path: place, query: path.slice(place.length), body: JSON.parse(String(body)) })
      return put(written.length)
    }
    if (path.includes('watch=true')) {
      const stream = aStream(signal)
      watches.set(place, { push: stream.push, signal })
      return { status: 200, headers: {}, body: stream.body }
    }
    listed.push(place)
    const items = collections[place] ?? []
    return answer(200, { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '5' }, items })
  }
  const running = quotaController(catalogue).run(testContext(send, { clock, signal: ending.signal }))
  onTestFinished(async () => {
    ending.abort()
    await running
  })
  let revision = 5
  return {
    ...{ written, watches, listed, clock },
    statuses: () => written.map(({ path, body }) => [path.split('/')[4], path.split('/')[6], body.status]),
    watched: (place: string) => vi.waitFor(() => expect([...watches.keys()]).toContain(place), within),
    happen(place: string, type: string, object: TestObject) {
      revision += 1
      const metadata = { ...object.metadata, resourceVersion: String(revision) }
      watches.get(place)?.push(JSON.stringify({ type, object: { ...object, metadata } }))
    },
  }
}

/** Waits until all work that needs no clock is done. */
async function settle() {
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

const quotasPath = '/api/v1/resourcequotas'
const podsOf = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`

test('the status has the limits, and the use of all resources that can be counted', async () => {
  const hard = { pods: '5', secrets: '3', 'count/widgets.example.com': '2', 'example.com/nothing': '9' }
  const { written } = aController({
    [quotasPath]: [aQuota('q', 'a', hard)],
    [podsOf('a')]: [anObject('one', 'a'), anObject('two', 'a')],
    '/apis/example.com/v1/namespaces/a/widgets': [anObject('w', 'a')],
  })
  await vi.waitFor(() => expect(written).not.toEqual([]), within)
  expect(written[0]).toMatchObject({
    path: '/api/v1/namespaces/a/resourcequotas/q/status',
    body: { metadata: { name: 'q', namespace: 'a', resourceVersion: '4' }, spec: { hard } },
  })
  expect(written[0]?.query).toContain('fieldManager=')
  expect(written[0]?.body.status).toEqual({ hard, used: { 'count/widgets.example.com': '1', pods: '2', secrets: '0' } })
})

test('a status is written if the limits or the use are absent or differ, and is not written otherwise', async () => {
  const [hard, used] = [{ pods: '5' }, { pods: '1' }]
  const quotas = Object.entries({
    ...{ kept: { hard: { pods: '5000m' }, used }, 'no-status': undefined, 'no-hard': { used }, 'no-used': { hard } },
    ...{ 'other-hard': { hard: { pods: '6' }, used }, 'other-used': { hard, used: { pods: '2' } } },
  }).map(([name, status]) => aQuota(name, 'a', hard, status))
  const { written, statuses } = aController({ [quotasPath]: quotas, [podsOf('a')]: [anObject('one', 'a')] })
  await vi.waitFor(() => expect(new Set(written.map(({ path }) => path)).size).toBe(5), within)
  await settle()
  expect(statuses().sort()).toEqual(
    ['no-hard', 'no-status', 'no-used', 'other-hard', 'other-used'].map((name) => ['a', name, { hard, used }]),
  )
})

test('a status that counts a write in progress is corrected only if the write is still invisible a second later', async () => {
  const [hard, used] = [{ pods: '5' }, { pods: '0' }]
  const { statuses, watched, happen, clock } = aController({ [quotasPath]: [aQuota('q', 'a', hard, { hard, used })] })
  await Promise.all([watched(quotasPath), watched(podsOf('a'))])
  await settle()
  happen(quotasPath, 'MODIFIED', aQuota('q', 'a', hard, { hard, used: { pods: '1' } }))
  await settle()
  expect(statuses()).toEqual([])
  await vi.waitFor(() => {
    clock.advance(1_000)
    expect(statuses()[0]).toEqual(['a', 'q', { hard, used }])
  }, within)
})

test('a count whose write met a conflict is repeated after a second, as the other write may not be visible yet', async () => {
  const refused = conflict({ group: '', resource: 'resourcequotas' }, 'q', 'changed').status
  const { written, clock } = aController({ [quotasPath]: [aQuota('q', 'a', { pods: '5' })] }, () => answer(409, refused))
  await vi.waitFor(() => expect(written).toHaveLength(1), within)
  await settle()
  clock.advance(999)
  await settle()
  expect(written).toHaveLength(1)
  clock.advance(1)
  await vi.waitFor(() => expect(written).toHaveLength(2), within)
})

test('changed limits are in the status at once', async () => {
  const [hard, used] = [{ pods: '5' }, { pods: '0' }]
  const { statuses, watched, happen } = aController({ [quotasPath]: [aQuota('q', 'a', hard, { hard, used })] })
  await Promise.all([watched(quotasPath), watched(podsOf('a'))])
  happen(quotasPath, 'MODIFIED', aQuota('q', 'a', { pods: '6' }, { hard, used }))
  await vi.waitFor(() => expect(statuses()[0]).toEqual(['a', 'q', { hard: { pods: '6' }, used }]), within)
})

test('a quota without limits gets an empty status, and a quota under deletion keeps its status', async () => {
  const { spec: _, ...bare } = { ...aQuota('bare', 'a', {}), spec: undefined }
  const going = aQuota('going', 'a', { pods: '1' })
  const quotas = [bare, { ...going, metadata: { ...going.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }]
  const { written, statuses } = aController({ [quotasPath]: quotas })
  await vi.waitFor(() => expect(written).toHaveLength(1), within)
  await settle()
  expect(statuses()).toEqual([['a', 'bare', { hard: {}, used: {} }]])
})

test('cluster-scoped resources, and resources that cannot be listed or watched, are not watched', async () => {
  const names = ['count/nodes', 'count/silents', 'count/hidden', 'count/absent']
  const { written, listed } = aController({ [quotasPath]: [aQuota('q', 'a', Object.fromEntries(names.map((name) => [name, '1'])))] })
  await vi.waitFor(() => expect(written).toHaveLength(1), within)
  expect(Object.values(written[0]?.body.status.used ?? {})).toEqual(['0', '0', '0', '0'])
  expect(listed).toEqual([quotasPath])
})

const kept = (namespace: string, pods: string) => aQuota('q', namespace, { pods: '5' }, { hard: { pods: '5' }, used: { pods } })

test('a deletion is counted at once, a create after a second, and only for quotas of the same namespace', async () => {
  const collections = { [quotasPath]: [kept('a', '1'), kept('b', '0')], [podsOf('a')]: [anObject('one', 'a')] }
  const { clock, happen, statuses, watched } = aController(collections)
  for (const place of [quotasPath, podsOf('a'), podsOf('b')]) await watched(place)
  happen(podsOf('b'), 'ADDED', anObject('new', 'b'))
  await settle()
  expect(statuses()).toEqual([])
  happen(podsOf('a'), 'DELETED', anObject('one', 'a'))
  await vi.waitFor(() => expect(statuses()).toHaveLength(1), within)
  await settle()
  expect(statuses()).toEqual([['a', 'q', { hard: { pods: '5' }, used: { pods: '0' } }]])
  clock.advance(999)
  await settle()
  expect(statuses()).toHaveLength(1)
  clock.advance(1)
  await vi.waitFor(() => expect(statuses()).toContainEqual(['b', 'q', { hard: { pods: '5' }, used: { pods: '1' } }]), within)
})

test('a collection is watched only while a quota of its namespace counts it', async () => {
  const { happen, watched, watches, statuses } = aController({ [quotasPath]: [kept('a', '0'), kept('b', '0')] })
  for (const place of [quotasPath, podsOf('a'), podsOf('b')]) await watched(place)
  happen(quotasPath, 'DELETED', kept('a', '0'))
  await vi.waitFor(() => expect(watches.get(podsOf('a'))?.signal?.aborted).toBe(true), within)
  expect(watches.get(podsOf('b'))?.signal?.aborted).toBe(false)
  happen(quotasPath, 'MODIFIED', aQuota('q', 'b', { secrets: '1' }))
  await vi.waitFor(() => expect(watches.get(podsOf('b'))?.signal?.aborted).toBe(true), within)
  await vi.waitFor(() => expect(statuses()).toEqual([['b', 'q', { hard: { secrets: '1' }, used: { secrets: '0' } }]]), within)
})

test('every five minutes all objects are counted again: a pod past its deadline uses nothing, without any event', async () => {
  const going = anObject('one', 'a')
  const metadata = { ...going.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 }
  const { clock, statuses, watched } = aController({ [quotasPath]: [kept('a', '1')], [podsOf('a')]: [{ ...going, metadata }] })
  for (const place of [quotasPath, podsOf('a')]) await watched(place)
  await settle()
  clock.advance(299_999)
  await settle()
  expect(statuses()).toEqual([])
  clock.advance(1)
  await vi.waitFor(() => expect(statuses()).toEqual([['a', 'q', { hard: { pods: '5' }, used: { pods: '0' } }]]), within)
})

test('a difference that remains a second after a write is written again', async () => {
  const { clock, written } = aController({ [quotasPath]: [aQuota('q', 'a', { pods: '5' })] })
  await vi.waitFor(() => expect(written).toHaveLength(1), within)
  await settle()
  expect(written).toHaveLength(1)
  clock.advance(1_000)
  await vi.waitFor(() => expect(written).toHaveLength(2), within)
})
