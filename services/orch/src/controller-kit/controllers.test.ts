import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { type RunningServer, start } from '../index.ts'
import {
  type ApiObject,
  connect,
  done,
  informer,
  mapped,
  own,
  ownedBy,
  reconciler,
  requeueAfter,
  run,
  StatusError,
  workQueue,
} from './index.ts'

let base: RunningServer

beforeAll(async () => {
  base = await start({ profile: 'kubernetes' })
})
afterAll(() => base.stop())

const configMap = (name: string, members: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  ...members,
})
const named = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, namespace: 'default' })

test('a controller in a program creates an object for each other object, retries after an error, and stops', async () => {
  await using server = await base.fork()
  const sources = own<ApiObject>('v1', 'configmaps', { select: { labelSelector: 'source' } })
  const copies = ownedBy<ApiObject>('v1', 'secrets')
  const hints = mapped<ApiObject>('v1', 'serviceaccounts', () => ['default/a'])
  const passes: string[] = []
  const controller = reconciler<ApiObject>('copier', () => ({
    watches: [sources, copies, hints],
    backoff: { firstMs: 1, maxMs: 10 },
    async reconcile({ key, object, world }) {
      passes.push(key)
      if (passes.length === 1) throw new Error('the first pass fails')
      if (passes.length === 2) return requeueAfter(1)
      const { name = '', namespace = '', uid = '' } = object.metadata
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true }
      const copy = { apiVersion: 'v1', kind: 'Secret', metadata: { name: `${name}-copy`, namespace, ownerReferences: [owner] } }
      if ([...world.read(copies).controlledBy(uid)].length === 0) await world.perform([{ kind: 'create', in: copies, object: copy }])
      return done
    },
  }))
  const running = await run([controller], { kubeconfig: server.kubeconfig })
  await server.client.objects.create({ ...configMap('a'), metadata: { name: 'a', namespace: 'default', labels: { source: '' } } })
  const secret = { apiVersion: 'v1', kind: 'Secret', name: 'a-copy', namespace: 'default' }
  await server.eventually(secret, (found) => found !== undefined, { within: '60s' })
  await running.stop()
  const count = passes.length
  await server.client.objects.delete(secret)
  await server.settled({ within: 60_000 })
  expect([passes.length, passes[0]]).toEqual([count, 'default/a'])
})

test('a controller without a log writes to standard error that its passes fail, and repeats a pass after a conflict of its status', async () => {
  await using server = await base.fork()
  const operator = server.user('operator')
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => written.mockRestore())
  const namespaces = own<ApiObject>('v1', 'namespaces', { select: { fieldSelector: 'metadata.name=default' } })
  let failures = 4
  const controller = reconciler<ApiObject>('failing', () => ({
    watches: [namespaces],
    backoff: { firstMs: 1, maxMs: 10 },
    async reconcile({ object, world }) {
      if (failures-- > 0) throw new TypeError('no such member')
      return world.writeStatus(object, { phase: 'Active', conditions: [{ type: 'Seen', status: 'True' }] })
    },
  }))
  const storm = operator.scenarios.conflictStorm(3)
  await using _ = await run([controller], { kubeconfig: operator.kubeconfig })
  const seen = { status: { conditions: [{ type: 'Seen' }] } }
  await server.eventually({ apiVersion: 'v1', kind: 'Namespace', name: 'default' }, seen, { within: '60s' })
  storm.end()
  const lines = written.mock.calls.map(([line]) => String(line))
  expect(lines.filter((line) => line.includes('failing') && line.includes('no such member'))).toHaveLength(1)
})

test('an informer and a work queue of a program follow a collection, and end with their signal', async () => {
  await using server = await base.fork()
  const ending = new AbortController()
  const { signal } = ending
  const client = await connect(server.kubeconfig)
  const worked = Promise.withResolvers<string>()
  const failures: number[] = []
  const queue = workQueue({
    signal,
    onError: (_, __, count) => failures.push(count),
    work: async (key) => {
      if (failures.length === 0) throw new Error('once')
      worked.resolve(key)
    },
  })
  const onEvent = ({ object }: { readonly object: ApiObject }) => queue.add(object.metadata.name ?? '')
  const cache = informer(client, own<ApiObject>('v1', 'configmaps'), {
    namespace: 'default',
    fieldSelector: 'metadata.name=b',
    signal,
    onEvent,
  })
  await cache.synced
  await client.objects.create(configMap('b', { data: { a: 'b' } }))
  expect([await worked.promise, failures, cache.get('b', 'default')?.['data']]).toEqual(['b', [1], { a: 'b' }])
  const error = await client.objects.get(named('absent')).catch((failed: unknown) => failed)
  expect(error instanceof StatusError && error.reason).toBe('NotFound')
  ending.abort()
  await Promise.all([cache.done, queue.close()])
  client.close()
  await expect(connect(server.kubeconfig, { context: 'absent' })).rejects.toThrow('no context named "absent"')
})
