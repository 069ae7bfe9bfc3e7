import { createClient, type Transport } from '@orch/client'
import { namesOf } from '@orch/core/names'
import { type Log, silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { runWhileLeading } from './leader-election.ts'

interface Lease {
  readonly metadata: { readonly name: string; readonly resourceVersion?: string }
  readonly spec: { readonly holderIdentity?: string; readonly leaseTransitions?: number }
}

/** A server with one Lease, which compares its version. */
function aServer() {
  let lease: Lease | undefined
  let version = 0
  const store = (body: string) => {
    version += 1
    const given = JSON.parse(body) as Lease
    lease = { ...given, metadata: { ...given.metadata, resourceVersion: String(version) } }
    return lease
  }
  const check = (method: string, body: string): { readonly status: number; readonly object: unknown } => {
    const refused = (code: number, reason: string) => ({
      status: code,
      object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: reason },
    })
    if (method === 'GET') return lease === undefined ? refused(404, 'NotFound') : { status: 200, object: lease }
    if (method === 'POST') return lease === undefined ? { status: 201, object: store(body) } : refused(409, 'AlreadyExists')
    const isStale = (JSON.parse(body) as Lease).metadata.resourceVersion !== lease?.metadata.resourceVersion
    return isStale ? refused(409, 'Conflict') : { status: 200, object: store(body) }
  }
  return { check, lease: () => lease }
}

/** The state of the connection to the server. */
type Way = 'open' | 'broken' | 'silent'

function aWay(server: ReturnType<typeof aServer>) {
  const state: { way: Way; failures: number } = { way: 'open', failures: 0 }
  const transport: Transport = {
    async send({ method, body = '', signal }) {
      if (state.way === 'broken') throw new Error('the connection has broken')
      if (state.way === 'silent') {
        await new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }))
      }
      const { status, object } = server.check(method, String(body))
      const bytes = Buffer.from(JSON.stringify(object))
      return {
        status,
        headers: { 'content-type': 'application/json' },
        body: (async function* () {
          yield bytes
        })(),
      }
    },
    close() {},
  }
  return { state, client: createClient(transport) }
}

/** Replicas in one election, and the maximum number of simultaneous leaders. */
function anElection() {
  const server = aServer()
  const clock = createFakeClock()
  const leading = new Set<string>()
  const seen = { leadersMax: 0 }
  const join = (identity: string, log: Log = silentLog) => {
    const { state, client } = aWay(server)
    const ending = new AbortController()
    const lead = async (signal: AbortSignal) => {
      if (state.failures-- > 0) throw new Error('no')
      leading.add(identity)
      seen.leadersMax = Math.max(seen.leadersMax, leading.size)
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      leading.delete(identity)
    }
    const options = { client, names: namesOf('orch'), lease: 'controllers', identity, clock, random: () => 0, log }
    const running = runWhileLeading({ ...options, signal: ending.signal, lead })
    const leave = async () => {
      ending.abort()
      await running
    }
    onTestFinished(leave)
    return { state, leave }
  }
  /** Advances time, and runs the due work of all candidates. */
  const pass = async (seconds: number) => {
    for (let step = 0; step <= seconds * 2; step += 1) {
      if (step > 0) clock.advance(500)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { server, leading, seen, join, pass }
}

test('one of two replicas leads, and the other leads as soon as the first has resigned', async () => {
  const { server, leading, seen, join, pass } = anElection()
  const first = join('a')
  await pass(0)
  join('b')
  await pass(60)
  expect([...leading]).toEqual(['a'])
  await first.leave()
  await pass(3)
  expect([...leading]).toEqual(['b'])
  expect(server.lease()?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 })
  expect(seen.leadersMax).toBe(1)
})

test.each(['broken', 'silent'] as const)('a leader whose connection to the server is %s stops before another one begins', async (way) => {
  const { leading, seen, join, pass } = anElection()
  const first = join('a')
  await pass(0)
  join('b')
  await pass(10)
  first.state.way = way
  await pass(11)
  expect([...leading]).toEqual([])
  await pass(10)
  expect([...leading]).toEqual(['b'])
  first.state.way = 'open'
  await pass(30)
  expect([...leading]).toEqual(['b'])
  expect(seen.leadersMax).toBe(1)
})

test('a leader whose task fails resigns, and leads again', async () => {
  const { server, leading, join, pass } = anElection()
  join('a').state.failures = 1
  await pass(1)
  expect([[...leading], server.lease()?.spec?.holderIdentity]).toEqual([[], undefined])
  await pass(2)
  expect([...leading]).toEqual(['a'])
})

test('a broken connection is logged once, and again after it was open in between', async () => {
  const { join, pass } = anElection()
  const reported: string[] = []
  const { state } = join('a', { ...silentLog, warn: (_, message) => void reported.push(message ?? '') })
  await pass(10)
  expect(reported).toEqual([])
  for (const times of [1, 2]) {
    state.way = 'broken'
    await pass(60)
    expect(reported).toEqual(Array.from({ length: times }, () => 'the lease could not be read or written'))
    state.way = 'open'
    await pass(10)
  }
})

test('a leader that returns in time continues to lead', async () => {
  const { leading, seen, join, pass } = anElection()
  const first = join('a')
  await pass(0)
  join('b')
  first.state.way = 'broken'
  await pass(7)
  first.state.way = 'open'
  await pass(30)
  expect([...leading]).toEqual(['a'])
  expect(seen.leadersMax).toBe(1)
})
