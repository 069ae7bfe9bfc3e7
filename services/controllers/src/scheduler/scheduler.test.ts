import { createClient } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { createMetrics, silentLog, workqueueMetricsOf } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { schedulerController } from './scheduler.ts'

const turn = async () => {
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve))
}

async function* linesOf(...values: readonly object[]) {
  for (const value of values) yield Buffer.from(`${JSON.stringify(value)}\n`)
}

const aNode = (resourceVersion: string, labels: object) => ({
  metadata: { name: 'n', uid: 'n', resourceVersion, labels },
  spec: {},
  status: { allocatable: { pods: '110', cpu: '8', memory: '8Gi' } },
})

const aPod = (name: string, nodeSelector: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'a', uid: name, resourceVersion: '2' },
  spec: { schedulerName: 'default-scheduler', containers: [{ name: 'main' }], nodeSelector },
  status: { phase: 'Pending' },
})

/** Schedules a Pod, while a changed Node, whose event arrives so many microtasks later, allows another one. Returns the bound Pods. */
async function boundPods(microtasks: number): Promise<string[]> {
  const ending = new AbortController()
  const [podAdded, nodeChanged, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const bound: string[] = []
  async function* changesOf(path: string) {
    if (path.includes('/pods?')) {
      await podAdded.promise
      yield* linesOf({ type: 'ADDED', object: aPod('any') })
    } else if (path.includes('/nodes?')) {
      await nodeChanged.promise
      yield* linesOf({ type: 'MODIFIED', object: aNode('3', { zone: 'z' }) })
    }
    await ended.promise
  }
  const lists: Readonly<Record<string, readonly object[]>> = { nodes: [aNode('1', {})], pods: [aPod('zoned', { zone: 'z' })] }
  const client = createClient({
    async send({ method, path }) {
      const [, name] = /pods\/([a-z]+)\/binding/.exec(path) ?? []
      if (name !== undefined) bound.push(name)
      if (method !== 'GET') return { status: 201, headers: {}, body: linesOf({}) }
      if (path.includes('watch=')) return { status: 200, headers: {}, body: changesOf(path) }
      const [, plural = ''] = /([a-z]+)\?/.exec(path) ?? []
      return { status: 200, headers: {}, body: linesOf({ metadata: { resourceVersion: '2' }, items: lists[plural] ?? [] }) }
    },
    close() {},
  })
  const clock = createFakeClock()
  const queues = workqueueMetricsOf(createMetrics({ process: false }), clock)
  const { signal } = ending
  const running = schedulerController({ level: 37, isGateOn: () => false, host: 'here', newUid: () => 'uid' }).run({
    ...{ client, names: namesOf('kubernetes'), clock, random: () => 0, log: silentLog, queues, signal },
  })
  onTestFinished(async () => {
    ending.abort()
    ended.resolve()
    await running
  })
  await turn()
  clock.advance(60_000)
  podAdded.resolve()
  for (let passed = 0; passed < microtasks; passed++) await undefined
  nodeChanged.resolve()
  await turn()
  return bound.sort()
}

test('SCHED-08: a change that wakes a Pod counts at each moment of an attempt for another Pod', async () => {
  const bound = await Promise.all(Array.from({ length: 10 }, (_, microtasks) => boundPods(microtasks)))
  expect(bound).toEqual(Array.from({ length: 10 }, () => ['any', 'zoned']))
})
