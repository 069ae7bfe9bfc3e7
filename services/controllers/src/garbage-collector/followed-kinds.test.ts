import { createClient, type TransportRequest } from '@orch/client'
import { createCatalogue } from '@orch/core/catalogue'
import { aggregatedDocument, apiResourceListDocument } from '@orch/core/discovery'
import { namesOf } from '@orch/core/names'
import { silentLog } from '@orch/platform'
import { createFakeClock, someQueueMetrics } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { garbageCollector } from './garbage-collector.ts'

const names = namesOf('orch')
const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A version that another server serves; stale and empty where that is down since before this one began. */
const remoteVersion = (freshness: 'Current' | 'Stale') => ({
  version: 'v1',
  freshness,
  resources:
    freshness === 'Stale'
      ? []
      : [
          {
            resource: 'things',
            singularResource: '',
            scope: 'Cluster',
            verbs: ['delete', 'list', 'watch'],
            responseKind: { group: '', version: '', kind: 'Thing' },
          },
        ],
})

/** The collector beside a server that has the built-in kinds and answers no watch but that of definitions. */
async function following() {
  const ending = new AbortController()
  const clock = createFakeClock()
  const catalogue = createCatalogue('orch')
  const asked: string[] = []
  const definitionEvents: ((line: object) => void)[] = []
  const remote = { version: remoteVersion('Current') }
  const open = new Set<string>()
  async function* silence(signal: AbortSignal | undefined) {
    await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
    yield Buffer.alloc(0)
  }
  async function* text(value: unknown) {
    yield Buffer.from(JSON.stringify(value))
  }
  async function* events(signal: AbortSignal | undefined) {
    while (signal?.aborted !== true) {
      const { promise, resolve } = Promise.withResolvers<object>()
      definitionEvents.push(resolve)
      yield Buffer.from(`${JSON.stringify(await promise)}\n`)
    }
  }
  const answer = ({ path, signal }: TransportRequest) => {
    if (path === '/api/v1') return text(apiResourceListDocument('v1', catalogue.inGroupVersion('', 'v1')))
    if (path === '/apis') {
      const document = aggregatedDocument(names, catalogue.groups, (group, version) => catalogue.inGroupVersion(group, version))
      return text({ ...document, items: [...document.items, { metadata: { name: 'remote.io' }, versions: [remote.version] }] })
    }
    // The informer of definitions lists first; the reflector of their metadata watches alone.
    if (path.startsWith(`${definitions}?watch`) && !path.includes('sendInitialEvents')) return events(signal)
    if (path.includes('watch=')) {
      const resource = path.replace(/\?.*/, '')
      open.add(resource)
      signal?.addEventListener('abort', () => open.delete(resource))
      return silence(signal)
    }
    return text({ metadata: { resourceVersion: '1' }, items: [] })
  }
  const client = createClient({
    async send(request) {
      asked.push(request.path)
      return { status: 200, headers: {}, body: answer(request) }
    },
    close() {},
  })
  const context = { client, names, clock, random: () => 0, log: silentLog, queues: someQueueMetrics(), signal: ending.signal }
  const running = garbageCollector.run(context)
  onTestFinished(async () => {
    ending.abort()
    definitionEvents.at(-1)?.({})
    await running
  })
  await expect.poll(() => definitionEvents.length).toBe(1)
  const looks = () => asked.filter((path) => path === '/apis').length
  const change = async (name: string) => {
    const before = definitionEvents.length
    definitionEvents.at(-1)?.({ type: 'ADDED', object: { metadata: { name, uid: name, resourceVersion: name } } })
    await expect.poll(() => definitionEvents.length).toBe(before + 1)
  }
  return { clock, looks, change, remote, open }
}

test('changes of definitions in a row cause one look at discovery, and one more a second later', async () => {
  const { clock, looks, change } = await following()
  expect(looks()).toBe(1)
  for (const name of ['oaks.trees.io', 'elms.trees.io', 'figs.trees.io']) await change(name)
  clock.advance(199)
  await turn()
  expect(looks()).toBe(1)
  clock.advance(1)
  await expect.poll(looks).toBe(2)
  clock.advance(800)
  await expect.poll(looks).toBe(3)
  await change('ashes.trees.io')
  clock.advance(200)
  await expect.poll(looks).toBe(4)
})

test('kinds of a server that is down are followed on, as their objects still exist; unserved kinds are dropped', async () => {
  const { clock, looks, change, remote, open } = await following()
  const things = '/apis/remote.io/v1/things'
  await expect.poll(() => open.has(things)).toBe(true)
  remote.version = remoteVersion('Stale')
  await change('oaks.trees.io')
  clock.advance(200)
  await expect.poll(looks).toBe(2)
  await turn()
  expect(open.has(things)).toBe(true)
  remote.version = { ...remoteVersion('Stale'), freshness: 'Current' }
  clock.advance(800)
  await expect.poll(looks).toBe(3)
  await expect.poll(() => open.has(things)).toBe(false)
})
