import { type Client, createClient } from '@orch/client'
import { createCatalogue } from '@orch/core/catalogue'
import { internal } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { type Clock, silentLog } from '@orch/platform'
import { createFakeClock, someQueueMetrics } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { definitionController } from './definition-controller.ts'

const names = namesOf('orch')
const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

/** A definition that is being deleted. */
const going = {
  metadata: {
    name: 'oaks.trees.io',
    uid: 'u',
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['customresourcecleanup.apiextensions.orch.io'],
  },
  spec: {
    group: 'trees.io',
    scope: 'Cluster',
    names: { plural: 'oaks', kind: 'Oak' },
    versions: [{ name: 'v1', served: true, storage: true }],
  },
  status: { conditions: [{ type: 'Established', status: 'True' }] as Condition[] },
}

async function* bytesOf(value: unknown): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(JSON.stringify(value))
}

/** Runs the controller until the test has ended. */
function runUntilTheEnd(client: Client, clock: Clock, ending: AbortController): void {
  const context = { client, names, clock, random: () => 0, log: silentLog, queues: someQueueMetrics(), signal: ending.signal }
  const running = definitionController(createCatalogue('orch')).run(context)
  onTestFinished(async () => {
    ending.abort()
    await running
  })
}

/** The controller with a server that has one definition and its objects. `list` returns the names of the existing objects at a path. */
function cleanUp(list: (place: string) => readonly string[], definition = going) {
  const ending = new AbortController()
  const clock = createFakeClock()
  let live = definition
  let lists = 0
  const client = createClient({
    async send({ method, path, body }) {
      const place = path.replace(/\?.*/, '')
      if (path.includes('watch=')) {
        await new Promise((resolve) => ending.signal.addEventListener('abort', resolve))
        return { status: 200, headers: {}, body: bytesOf({}) }
      }
      if (method === 'PUT') live = JSON.parse(String(body)) as typeof going
      if (place === definitions) return { status: 200, headers: {}, body: bytesOf({ metadata: {}, items: [live] }) }
      if (place.startsWith(`${definitions}/`)) return { status: 200, headers: {}, body: bytesOf(live) }
      if (method === 'DELETE') return { status: 200, headers: {}, body: bytesOf({}) }
      lists += 1
      try {
        return { status: 200, headers: {}, body: bytesOf({ metadata: {}, items: list(place).map((name) => ({ metadata: { name } })) }) }
      } catch {
        return { status: 500, headers: {}, body: bytesOf(internal('no disk').status) }
      }
    },
    close() {},
  })
  runUntilTheEnd(client, clock, ending)
  return {
    clock,
    finalizers: () => live.metadata.finalizers,
    terminating: () => live.status.conditions.find(({ type }) => type === 'Terminating'),
    lists: () => lists,
  }
}

test('CRD-144: a definition whose objects remain for a minute has a condition, and is deleted after its objects', async () => {
  let remaining = ['a']
  const { clock, lists, terminating, finalizers } = cleanUp(() => remaining)
  await expect.poll(terminating).toMatchObject({ status: 'True', reason: 'InstanceDeletionInProgress' })
  await expect.poll(lists).toBeGreaterThan(1)
  clock.advance(60_000)
  await expect.poll(terminating).toMatchObject({
    status: 'True',
    reason: 'InstanceDeletionCheck',
    message: 'could not confirm zero CustomResources remaining: timed out waiting for the condition',
  })
  expect(finalizers()).toEqual(going.metadata.finalizers)
  remaining = []
  await expect
    .poll(() => {
      clock.advance(1_000)
      return terminating()
    })
    .toMatchObject({ status: 'False', reason: 'InstanceDeletionCompleted', message: 'removed all instances' })
  expect(finalizers()).toEqual([])
})

test('CRD-144: a definition whose objects cannot be listed is not deleted', async () => {
  const { terminating, finalizers } = cleanUp(() => {
    throw new Error('no disk')
  })
  await expect.poll(terminating).toMatchObject({
    status: 'True',
    reason: 'InstanceDeletionFailed',
    message: 'could not list instances: Internal error occurred: no disk',
  })
  expect(finalizers()).toEqual(going.metadata.finalizers)
})

test.each([
  ['v1, which is built in', ['v1'], []],
  ['v1, which is built in, and v9', ['v1', 'v9'], ['/apis/networking.orch.io/v9/oaks', '/apis/networking.orch.io/v9/oaks']],
])('CRD-144: a definition of a built-in group with %s is deleted after the objects that are served', async (_title, versions, expected) => {
  const asked: string[] = []
  const spec = {
    ...going.spec,
    group: 'networking.orch.io',
    versions: versions.map((name) => ({ name, served: true, storage: name === 'v1' })),
  }
  const { terminating, finalizers } = cleanUp(
    (place) => {
      asked.push(place)
      return []
    },
    { ...going, spec },
  )
  await expect.poll(terminating).toMatchObject({ status: 'False', reason: 'InstanceDeletionCompleted' })
  expect([asked, finalizers()]).toEqual([expected, []])
})

test('a definition with conflicting names is checked soon after a change, and then at intervals', async () => {
  const ending = new AbortController()
  const clock = createFakeClock()
  let looks = 0
  const { deletionTimestamp: _, ...metadata } = going.metadata
  const live = { ...going, metadata, status: { conditions: [{ type: 'NamesAccepted', status: 'False' }] } }
  const client = createClient({
    async send({ method, path }) {
      if (path.includes('watch=')) await new Promise((resolve) => ending.signal.addEventListener('abort', resolve))
      if (method === 'PATCH') looks += 1
      return { status: 200, headers: {}, body: bytesOf(path.startsWith(`${definitions}/`) ? live : { metadata: {}, items: [live] }) }
    },
    close() {},
  })
  runUntilTheEnd(client, clock, ending)
  await expect.poll(() => looks).toBe(1)
  const after = async (ms: number) => {
    // The next timer is set when the check has ended.
    await new Promise(setImmediate)
    clock.advance(ms)
    await new Promise(setImmediate)
    return looks
  }
  expect([await after(200), await after(200), await after(200), await after(200), await after(4_799), await after(1)]).toEqual([
    2, 3, 4, 4, 4, 5,
  ])
})
