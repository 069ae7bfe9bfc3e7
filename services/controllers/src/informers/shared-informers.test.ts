import { createClient } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { SharedInformers } from './shared-informers.ts'

async function* bytesOf(...lines: readonly object[]) {
  for (const line of lines) yield Buffer.from(`${JSON.stringify(line)}\n`)
}

const controlledBy = (uid: string) => ({ ownerReferences: [{ apiVersion: 'v1', kind: 'Owner', name: 'o', uid, controller: true }] })
const aPart = (name: string, namespace: string, rest: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Part',
  metadata: { name, namespace, uid: name, resourceVersion: '1', ...rest },
})

/** Informers with a server that lists these parts, and sends these changes when they are released. */
function aServer(items: readonly ApiObject[], changes: readonly object[] = []) {
  const ending = new AbortController()
  const [released, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const lists: string[] = []
  const client = createClient({
    async send({ path }) {
      if (!path.includes('watch=')) {
        lists.push(path.replace(/\?.*/, ''))
        return { status: 200, headers: {}, body: bytesOf({ metadata: { resourceVersion: '5' }, items }) }
      }
      const body = (async function* () {
        await released.promise
        yield* bytesOf(...changes)
        await ended.promise
      })()
      return { status: 200, headers: {}, body }
    },
    close() {},
  })
  const { signal } = ending
  const informers = new SharedInformers({ names: namesOf('orch'), clock: createFakeClock(), random: () => 0, log: silentLog, signal })
  onTestFinished(async () => {
    ending.abort()
    released.resolve()
    ended.resolve()
    await informers.done()
  })
  return { client, informers, lists, release: released.resolve }
}

const parts = { resource: { group: '', version: 'v1', plural: 'parts', namespaced: true } }
const namesIn = (objects: Iterable<ApiObject>) => [...objects].map(({ metadata }) => metadata.name)

test('objects of one template share equal parts in the cache, and an update shares unchanged parts', async () => {
  const spec = { containers: [{ name: 'main', image: 'web:1' }] }
  const aPod = (name: string, rest: object = {}) => ({ ...aPart(name, 'a', { managedFields: [{ manager: 'm' }], ...rest }), spec })
  const changed = { ...aPod('p', { resourceVersion: '6' }), status: { phase: 'Running' } }
  const { client, informers, release } = aServer([aPod('p'), aPod('q')], [{ type: 'MODIFIED', object: changed }])
  const pods = informers.open(parts, client)
  await pods.synced
  const [before, sibling] = [pods.get('a/p'), pods.get('a/q')]
  expect(before?.metadata).toEqual({ name: 'p', namespace: 'a', uid: 'p', resourceVersion: '1' })
  expect(before?.['spec']).toEqual(spec)
  expect(sibling?.['spec']).toBe(before?.['spec'])
  release()
  await expect.poll(() => pods.get('a/p')?.['status']).toEqual({ phase: 'Running' })
  expect(pods.get('a/p')?.['spec']).toBe(before?.['spec'])
  expect(before).not.toHaveProperty('status')
})

test('controllers that watch the same objects share one list, and controllers of other objects have separate lists', async () => {
  const { client, informers, lists } = aServer([aPart('p', 'a')])
  const first = informers.open(parts, client)
  expect(informers.open({ ...parts }, client)).toBe(first)
  for (const differing of [{ select: { namespace: 'a' } }, { isMetadataOnly: true }, { keep: (part: ApiObject) => part }])
    expect(informers.open({ ...parts, ...differing }, client)).not.toBe(first)
  await first.synced
  expect(lists).toEqual(['/api/v1/parts', '/api/v1/namespaces/a/parts', '/api/v1/parts', '/api/v1/parts'])
})

test('a later listener receives the cached objects, once', async () => {
  const { client, informers } = aServer([aPart('p', 'a'), aPart('q', 'a')])
  const informer = informers.open(parts, client)
  await informer.synced
  const heard: string[] = []
  informer.subscribe({ applyEvent: ({ kind, object }) => void heard.push(`${kind} ${object.metadata.name}`) })
  expect(heard).toEqual(['added p', 'added q'])
})

test('indexes by namespace and by controller follow each change', async () => {
  const { client, informers, release } = aServer(
    [aPart('p', 'a', controlledBy('u')), aPart('q', 'a'), aPart('r', 'b', controlledBy('u'))],
    [
      { type: 'MODIFIED', object: aPart('q', 'a', { ...controlledBy('v'), resourceVersion: '6' }) },
      { type: 'ADDED', object: aPart('s', 'a', { resourceVersion: '7' }) },
      // The last state has another controller than the cached one.
      { type: 'DELETED', object: aPart('r', 'b', { ...controlledBy('v'), resourceVersion: '8' }) },
    ],
  )
  const informer = informers.open(parts, client)
  await informer.synced
  const all = () =>
    [informer.inNamespace('a'), informer.controlledBy('u'), informer.controlledBy('v'), informer.uncontrolled('a')].map(namesIn)
  expect(all()).toEqual([['p', 'q'], ['p', 'r'], [], ['q']])
  const gone = Promise.withResolvers<void>()
  informer.subscribe({ applyEvent: ({ kind }) => kind === 'deleted' && gone.resolve() })
  release()
  await gone.promise
  expect(all().map((found) => found.sort())).toEqual([['p', 'q', 's'], ['p'], ['q'], ['s']])
})

test('objects of a list and of a watch are cached without managedFields', async () => {
  const managedFields = [{ manager: 'm', operation: 'Update' }]
  const changed = aPart('q', 'a', { managedFields })
  const { client, informers, release } = aServer([aPart('p', 'a', { managedFields })], [{ type: 'ADDED', object: changed }])
  const informer = informers.open(parts, client)
  await informer.synced
  release()
  await expect.poll(() => [...informer.values()], { timeout: 60_000 }).toEqual([aPart('p', 'a'), aPart('q', 'a')])
})
