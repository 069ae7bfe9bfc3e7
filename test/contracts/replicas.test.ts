import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { everything, type StorageService, storageContract, UnknownOutcomeError } from '@orch/core/contracts'
import type { StatusError } from '@orch/core/meta'
import { silentLog } from '@orch/platform'
import { freePorts } from '@orch/platform/backends'
import { aPut, contractSuiteLinks, written } from '@orch/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { dialContract, rpcLimits } from '../../shared/platform/src/rpc/index.ts'
import { contracts, openServices } from './services.ts'

// The tests start and watch processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

interface ReplicaProcess {
  readonly child: ChildProcess
  readonly address: string
  readonly asked: string[]
}

async function startReplica(manner: 'silent' | 'answering', address = '127.0.0.1:0'): Promise<ReplicaProcess> {
  const script = fileURLToPath(new URL('./replica-child.ts', import.meta.url))
  const child = fork(script, [address, manner], { execArgv: ['--conditions=source', '--disable-warning=ExperimentalWarning'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const asked: string[] = []
  child.on('message', (message: { asked?: string }) => {
    if (message.asked !== undefined) asked.push(message.asked)
  })
  const [told] = (await once(child, 'message')) as [{ address: string }]
  return { child, address: told.address, asked }
}

async function end({ child }: ReplicaProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

function dial(...replicas: readonly ReplicaProcess[]) {
  const dialled = dialContract(storageContract, { addresses: replicas.map(({ address }) => address), random: Math.random, log: silentLog })
  onTestFinished(() => dialled.close())
  return dialled
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const until = async (holds: () => boolean) => {
  while (!holds()) await turn()
}

const get = (storage: StorageService) => storage.get({ key: 'core/nodes/a', read: { kind: 'latest' } })
const commit = (storage: StorageService, value?: Uint8Array) =>
  storage.commit({ key: 'core/nodes/a', expected: 0, conditions: [], writeId: 'w', value })

/** Sends questions until both replicas have answered some. */
async function untilBothAnswer(storage: StorageService): Promise<void> {
  const seen = new Set<number>()
  while (seen.size < 2) for (const { revision } of await Promise.all([get(storage), get(storage)])) seen.add(revision)
}

test('CARD-24, CARD-25: when a replica is killed under calls, reads continue on another, its commits are unknown, and its successor gets calls', async () => {
  // A port that no other program receives while the port has no listener.
  const [port] = await freePorts(1)
  const [silent, answering] = [await startReplica('silent', `127.0.0.1:${port}`), await startReplica('answering')]
  const alone = dial(silent)
  const both = dial(silent, answering)
  await until(() => alone.isReady() && both.isReady())
  const lost = Array.from({ length: 10 }, () => commit(alone.service).catch((error: unknown) => error))
  const reads = [get(both.service)]
  const singles = [both.service.getAt({ key: 'core/nodes/a', revision: 1 })]
  const wasAsked = (method: string) => silent.asked.includes(method)
  for (; !wasAsked('get') || !wasAsked('getAt'); await turn()) {
    if (!wasAsked('get')) reads.push(get(both.service))
    if (!wasAsked('getAt')) singles.push(both.service.getAt({ key: 'core/nodes/a', revision: 1 }))
  }
  await until(() => silent.asked.filter((method) => method === 'commit').length === 10)
  await end(silent)
  for (const error of await Promise.all(lost)) expect(error).toBeInstanceOf(UnknownOutcomeError)
  expect(new Set((await Promise.all(reads)).map(({ revision }) => revision))).toEqual(new Set([answering.child.pid]))
  expect(await Promise.all(singles)).toEqual(singles.map(() => ({})))
  await startReplica('answering', silent.address)
  await untilBothAnswer(both.service)
  // The caller reconnects at its own times, and a call waits at most a second for the reconnection.
  await until(alone.isReady)
  expect(await commit(alone.service)).toMatchObject({ kind: 'written' })
})

test('calls go to the replica with the fewest open calls', async () => {
  const [silent, answering] = [await startReplica('silent'), await startReplica('answering')]
  const both = dial(silent, answering)
  const stop = new AbortController()
  const context = { signal: stop.signal }
  const answers: number[] = []
  for (let asked = 1; answers.length < 100; asked += 1) {
    const answer = both.service.get({ key: 'core/nodes/a', read: { kind: 'latest' } }, context)
    answer.then(
      ({ revision }) => answers.push(revision),
      () => {},
    )
    // When the silent replica holds a call too long, the caller repeats the call at the other replica, so the call may count twice.
    await until(() => answers.length + silent.asked.length >= asked)
  }
  // Before the caller could reach the other replica, it could ask only the first.
  expect(silent.asked.length).toBeLessThan(50)
  stop.abort()
  expect(new Set(answers)).toEqual(new Set([answering.child.pid]))
})

test('CARD-24: a stopped replica gets a bounded number of messages, and another replica takes over', async () => {
  const [stopped, answering] = [await startReplica('answering'), await startReplica('answering')]
  const alone = dial(stopped)
  const both = dial(stopped, answering)
  await Promise.all([untilBothAnswer(both.service), alone.reached])
  stopped.child.kill('SIGSTOP')
  const value = new Uint8Array(1024 * 1024)
  const isRefused = (error: unknown) => (error as { message: string }).message === 'too many calls wait for another service'
  // Sends all calls at once: on a busy machine, successive calls would let the caller give up the replica before the bound.
  const boundMiB = rpcLimits.exchangeQueueBytesMax / value.length
  const sent = Array.from({ length: boundMiB + 64 }, () => commit(alone.service, value).catch((error: unknown) => error))
  // After its time limit, the caller repeats a read at another replica; the outcome of a commit is unknown.
  const reads = Array.from({ length: 20 }, () => get(both.service))
  expect(new Set((await Promise.all(reads)).map(({ revision }) => revision))).toEqual(new Set([answering.child.pid]))
  const outcomes = await Promise.all(sent)
  const refused = outcomes.filter(isRefused)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused[0]).toMatchObject({ code: 503, status: { details: { retryAfterSeconds: 1 } } })
  // The caller accepts the messages that fit into the queue and into the connection's buffer.
  expect(outcomes.length - refused.length).toBeGreaterThanOrEqual(boundMiB - 1)
  const codes = outcomes.filter((outcome) => !isRefused(outcome)).map((outcome) => (outcome as StatusError).code)
  expect(codes.filter((code) => code !== 503 && code !== 504)).toEqual([])
  expect(outcomes[0]).toBeInstanceOf(UnknownOutcomeError)
  expect(alone.isReady()).toBe(false)
})

test('LIST-11: ten thousand objects are written in batches and listed in parts, without a loss', async () => {
  const { plain: link } = contractSuiteLinks({ contracts, open: openServices, script: new URL('./child.ts', import.meta.url) })
  onTestFinished(() => link.close())
  const { services, close } = await link.open()
  const data = 'x'.repeat(1_000)
  const names = Array.from({ length: 10_000 }, (_, index) => `n${String(index).padStart(5, '0')}`)
  // The number is small, so that a busy machine answers each batch within a commit's time limit.
  for (let index = 0; index < names.length; index += 100)
    await Promise.all(names.slice(index, index + 100).map((name) => written(services.storage, aPut({ name, data }))))
  const parts = services.storage.list({
    scope: { resource: 'core/configmaps' },
    selection: everything,
    read: { kind: 'latest' },
    limit: 0,
    start: '',
    layout: 'joined',
  })
  let count = 0
  const texts: string[] = []
  for await (const part of parts) {
    if (part.kind !== 'chunk') continue
    count += part.count
    texts.push(Buffer.from(part.bytes).toString())
  }
  expect(count).toBe(10_000)
  const listed = texts.flatMap((text) => JSON.parse(`[${text}]`) as { metadata: { name: string } }[])
  expect(listed.map(({ metadata }) => metadata.name)).toEqual(names)
  await close()
})
