import type { SharedStore, Store } from '@orch/core/contracts'
import { createMetrics, type SpanOptions, type Tracer } from '@orch/platform'
import { createFakeClock, storeSuite } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { createMemoryStore } from './memory-store.ts'
import { observeStore } from './observed-store.ts'

storeSuite('memory, observed', async () => {
  const metrics = createMetrics({ process: false })
  return observeStore(createMemoryStore(), { system: 'memory', clock: createFakeClock(), metrics })
})

const key = 'core/configmaps/default/a'
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const create = { key, expected: 0, conditions: [], value: Buffer.from('x'), writeId: 'w' }

function open() {
  const spans: { name: string; options: SpanOptions; failed: boolean; ended: boolean }[] = []
  const tracer: Tracer = {
    start(name, options) {
      const span = { name, options, failed: false, ended: false }
      spans.push(span)
      return {
        traceparent,
        rename: () => {},
        attribute: () => {},
        fail: () => {
          span.failed = true
        },
        end: () => {
          span.ended = true
        },
      }
    },
  }
  const metrics = createMetrics({ process: false })
  const inner = createMemoryStore()
  const store = observeStore(inner, { system: 'etcd', clock: createFakeClock(), metrics, tracer })
  onTestFinished(() => inner.close())
  return { spans, metrics, store }
}

test('CARD-22: a commit that belongs to a trace has a span, and other commits have none', async () => {
  const { spans, store } = open()
  await store.commit({ ...create, traceparent })
  await store.commit({ ...create, key: 'core/configmaps/default/b' })
  expect(spans).toEqual([
    {
      name: 'etcd create',
      options: {
        kind: 'client',
        parent: traceparent,
        attributes: { 'db.system.name': 'etcd', 'db.operation.name': 'create', 'db.collection.name': 'core/configmaps' },
      },
      failed: false,
      ended: true,
    },
  ])
})

test('a rejected commit fails its span, and stays rejected', async () => {
  const { spans, store } = open()
  await store.close()
  await expect(store.commit({ ...create, traceparent })).rejects.toThrow()
  expect(spans).toMatchObject([{ failed: true, ended: true }])
})

test('requests are counted by operation and resource', async () => {
  const { metrics, store } = open()
  await store.commit(create)
  await store.getAt(key, store.status().revision)
  const text = await metrics.text()
  expect(text).toContain('etcd_request_duration_seconds_count{operation="create",type="core/configmaps"} 1')
  expect(text).toContain('etcd_request_duration_seconds_count{operation="get",type="core/configmaps"} 1')
})

test('requests are timed in seconds: commits by operation, and requests about all resources without a resource', async () => {
  const clock = createFakeClock()
  clock.advance(5_000)
  const metrics = createMetrics({ process: false })
  const slow = async () => {
    clock.advance(2_500)
    return { kind: 'stale' as const }
  }
  const inner = { commit: slow, compact: slow } as unknown as Store
  const store = observeStore(inner, { system: 'etcd', clock, metrics })
  await store.commit({ ...create, expected: 3 })
  await store.commit({ ...create, expected: 3, value: undefined })
  await store.commit({ ...create, key: 'core/configmaps' })
  await store.commit({ ...create, key: '/x/y' })
  await store.compact(1)
  const text = await metrics.text()
  const sum = (operation: string, type: string) => `etcd_request_duration_seconds_sum{operation="${operation}",type="${type}"} 2.5`
  expect(text).toContain(sum('update', 'core/configmaps'))
  expect(text).toContain(sum('delete', 'core/configmaps'))
  expect(text).toContain(sum('create', 'core/configmaps'))
  expect(text).toContain(sum('create', '/x'))
  expect(text).toContain(sum('compact', ''))
})

test('a store stays shared with other writers, or unshared, when it is observed', async () => {
  const told: string[] = []
  const shared: SharedStore = {
    latest: async () => 7,
    askPosition: () => true,
    onReplaced: (listener) => {
      listener()
      return () => told.push('replaced')
    },
    onReachable: (listener) => {
      listener(false)
      return () => told.push('reachable')
    },
    members: async () => ['', 'away'],
    visitRevisions: async (show) => {
      show('k', 3)
      return 9
    },
    mayLoseChanges: true,
  }
  const observed = (store: Partial<Store>) =>
    observeStore(store as Store, { system: 'etcd', clock: createFakeClock(), metrics: createMetrics({ process: false }) })
  expect([observed({}).shared, observed({}).isStale]).toEqual([undefined, undefined])
  const { isStale } = observed({ isStale: (key) => key === 'a' })
  expect(['a', 'b'].map((key) => isStale?.(key))).toEqual([true, false])
  const seen = observed({ shared }).shared
  expect([await seen?.latest(), seen?.askPosition(), seen?.mayLoseChanges]).toEqual([7, true, true])
  expect(await seen?.members()).toEqual(['', 'away'])
  expect(await seen?.visitRevisions((key, revision) => told.push(`${key}@${revision}`))).toBe(9)
  seen?.onReplaced(() => told.push('listened'))()
  seen?.onReachable((isReachable) => told.push(`${isReachable}`))()
  expect(told).toEqual(['k@3', 'listened', 'replaced', 'false', 'reachable'])
})
