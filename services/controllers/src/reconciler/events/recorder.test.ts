import { createClient } from '@orch/client'
import { forbidden, notFound, StatusError } from '@orch/core/meta'
import { type Log, silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { EventRecorder } from './recorder.ts'

async function* bytesOf(value: unknown) {
  yield Buffer.from(JSON.stringify(value))
}

/** A recorder with a server that gives these answers in order; undefined for success, a promise for success later. */
function aRecorder(answers: readonly (Error | Promise<void> | undefined)[] = [], log: Log = silentLog) {
  const requests: { readonly request: string; readonly body: object }[] = []
  const clock = createFakeClock()
  const client = createClient({
    async send({ method, path, body }) {
      const answer = answers[requests.length]
      requests.push({ request: `${method} ${path}`, body: JSON.parse(String(body)) as object })
      if (answer instanceof StatusError) return { status: answer.code, headers: {}, body: bytesOf(answer.status) }
      if (answer instanceof Error) throw answer
      await answer
      return { status: 200, headers: {}, body: bytesOf({}) }
    },
    close() {},
  })
  const recorder = new EventRecorder('replicaset-controller', {
    client,
    clock,
    random: () => 0.5,
    log,
    signal: new AbortController().signal,
  })
  return { recorder, requests, clock }
}

const about = { apiVersion: 'apps/v1', kind: 'ReplicaSet', namespace: 'a', name: 'web', uid: 'u', resourceVersion: '7' }
const draft = { type: 'Normal', reason: 'SuccessfulCreate', message: 'Created pod: p' } as const
const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('WL-COMMON-34, WL-COMMON-35: an event names its object and its component, and an equal event raises its count', async () => {
  const { recorder, requests, clock } = aRecorder()
  recorder.record(about, draft)
  clock.advance(2_000)
  recorder.record(about, draft)
  await recorder.settled()
  const name = 'web.18867251ee01a120'
  expect(requests).toEqual([
    {
      request: 'POST /api/v1/namespaces/a/events',
      body: {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name, namespace: 'a' },
        involvedObject: about,
        type: 'Normal',
        reason: 'SuccessfulCreate',
        message: 'Created pod: p',
        source: { component: 'replicaset-controller' },
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        count: 1,
        reportingComponent: 'replicaset-controller',
        reportingInstance: '',
      },
    },
    {
      request: `PATCH /api/v1/namespaces/a/events/${name}`,
      body: { count: 2, lastTimestamp: '2026-01-01T00:00:02Z', message: 'Created pod: p' },
    },
  ])
})

test('an event about a cluster-scoped object is in the namespace default, and a name that is invalid for an Event is left out', async () => {
  const { recorder, requests } = aRecorder()
  recorder.record({ apiVersion: 'v1', kind: 'ClusterRole', name: 'system:a', uid: 'u' }, draft)
  await recorder.settled()
  expect(requests).toMatchObject([
    { request: 'POST /api/v1/namespaces/default/events', body: { metadata: { name: '18867251ee01a120', namespace: 'default' } } },
  ])
})

test('an event that has expired is created again with its count', async () => {
  const { recorder, requests } = aRecorder([undefined, notFound({ group: '', resource: 'events' }, 'e')])
  recorder.record(about, draft)
  recorder.record(about, draft)
  await recorder.settled()
  expect(requests.map(({ request }) => request.slice(0, 4))).toEqual(['POST', 'PATC', 'POST'])
  expect(requests[2]?.body).toMatchObject({ count: 2 })
})

test('at most 32 events are sent together', async () => {
  const answered = Promise.withResolvers<void>()
  const { recorder, requests } = aRecorder([answered.promise])
  for (let index = 0; index < 40; index++) recorder.record({ ...about, name: `${index}`, uid: `${index}` }, draft)
  await turns()
  expect(requests).toHaveLength(32)
  answered.resolve()
  await recorder.settled()
  expect(requests).toHaveLength(40)
})

test('the count of an event is raised after the event is written', async () => {
  const answered = Promise.withResolvers<void>()
  const { recorder, requests } = aRecorder([answered.promise])
  const methods = () => requests.map(({ request }) => request.replace(/ .*/, ''))
  for (const name of ['a', 'b', 'a', 'c']) recorder.record({ ...about, name, uid: name }, draft)
  await turns()
  expect(methods()).toEqual(['POST', 'POST'])
  answered.resolve()
  await recorder.settled()
  expect(methods()).toEqual(['POST', 'POST', 'PATCH', 'POST'])
})

test('WL-COMMON-36: a refused event is dropped, and an event that did not reach the server is sent again', async () => {
  const { recorder, requests, clock } = aRecorder([forbidden({ group: '', resource: 'events' }, 'e', 'no'), new Error('no connection')])
  recorder.record(about, draft)
  recorder.record(about, { ...draft, message: 'Created pod: q' })
  await turns()
  expect(requests).toHaveLength(2)
  clock.advance(4_999)
  await turns()
  expect(requests).toHaveLength(2)
  clock.advance(1)
  await recorder.settled()
  expect(requests.map(({ body }) => 'message' in body && body.message)).toEqual(['Created pod: p', 'Created pod: q', 'Created pod: q'])
})

test('WL-COMMON-36: beyond 1000 waiting events further events are dropped, and each doubling of their number is logged', async () => {
  const warnings: unknown[] = []
  const { recorder, requests } = aRecorder([], { ...silentLog, warn: ({ dropped }) => void warnings.push(dropped) })
  for (let index = 0; index < 1_010; index++) recorder.record({ ...about, uid: `${index}`, name: `web-${index}` }, draft)
  await recorder.settled()
  expect(requests).toHaveLength(1_000)
  expect(warnings).toEqual([1, 2, 4, 8])
})
