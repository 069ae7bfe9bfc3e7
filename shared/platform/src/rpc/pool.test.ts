import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { contract, type Service, stream, UnknownOutcomeError, unary, wire } from '@orch/core/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { type Clock, systemClock } from '../clock.ts'
import { type Log, silentLog } from '../log.ts'
import { dialContract } from './dial.ts'
import { rpcLimits } from './limits.ts'
import { serveContract } from './offer.ts'
import { PushStream } from './push-stream.ts'
import { openRpcServer, type RpcServer } from './server.ts'

const note = wire.message({ text: wire.string(1) })
const notes = contract('test.v1.Notes', {
  ask: unary(note, note, { idempotent: true }),
  follow: stream(note, note, { endless: true }),
  /** Normally answered at once. */
  look: unary(note, note, { hot: true, idempotent: true, answerMs: () => 60_000 }),
  list: stream(note, note, { idempotent: true, answerMs: () => 60_000 }),
  write: unary(note, note, { hot: true, answerMs: () => 60_000 }),
})

const turn = () => new Promise((resolve) => setImmediate(resolve))
const until = async (holds: () => boolean) => {
  while (!holds()) await turn()
}

/** A replica at its own loopback address, which it gives as its answer. */
async function aReplica(host: string, port: number, own: Partial<Service<typeof notes>> = {}): Promise<RpcServer> {
  const ask = async () => ({ text: host })
  const follow = () => new PushStream<{ text: string }>()
  const service = { ask, look: ask, write: ask, follow, list: follow, ...own }
  const server = await openRpcServer({ address: `${host}:${port}`, offers: [serveContract(notes, service)], log: silentLog })
  onTestFinished(() => server.close())
  return server
}

/** A service whose replicas share a name; `look` repeats the DNS lookup, as the clock would. */
async function behindAName(port: number, ...first: readonly string[]) {
  const state: { found: readonly string[] | Error } = { found: first }
  const rounds: (() => void)[] = []
  const clock: Clock = {
    ...systemClock,
    every(_, callback) {
      rounds.push(callback)
      return { cancel: () => {} }
    },
  }
  const warnings: string[] = []
  const log: Log = { ...silentLog, warn: (_, message) => void warnings.push(message ?? '') }
  const lookup = async () => {
    if (state.found instanceof Error) throw state.found
    return state.found
  }
  const dialled = dialContract(notes, {
    addresses: [`dns:///replicas.test:${port}`],
    lookup,
    insecureTransport: true,
    clock,
    random: Math.random,
    log,
  })
  onTestFinished(() => dialled.close())
  const look = (found: readonly string[] | Error) => {
    state.found = found
    for (const round of rounds) round()
  }
  return { dialled, service: dialled.service, look, warnings }
}

/** The replicas that answer a large number of calls. */
async function answering({ ask }: Service<typeof notes>): Promise<Set<string>> {
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask({ text: '' })))
  return new Set(answers.map(({ text }) => text))
}

async function untilAnswering(service: Service<typeof notes>, ...hosts: readonly string[]): Promise<void> {
  for (;;) {
    const seen = await answering(service)
    if (seen.size === hosts.length && hosts.every((host) => seen.has(host))) return
  }
}

const [first, second, third] = ['127.0.0.1', '127.0.0.2', '127.0.0.3']

async function portOf(server: Promise<RpcServer>): Promise<number> {
  return Number((await server).address.split(':')[1])
}

test('CARD-24: the addresses of a name may change: an added address gets calls, a removed one gets none, and open calls are finished', async () => {
  const answers: (() => void)[] = []
  const slow = ({ text }: { text: string }) =>
    text === 'slow'
      ? new Promise<{ text: string }>((resolve) => answers.push(() => resolve({ text: 'late' })))
      : Promise.resolve({ text: first })
  const port = await portOf(aReplica(first, 0, { ask: slow }))
  const { service, look } = await behindAName(port, first)
  await untilAnswering(service, first)
  const underWay = service.ask({ text: 'slow' })
  await until(() => answers.length === 1)
  await aReplica(second, port)
  look([first, second])
  await untilAnswering(service, first, second)
  look([second])
  await untilAnswering(service, second)
  for (const answer of answers) answer()
  expect(await underWay).toEqual({ text: 'late' })
  await aReplica(third, port)
  look([second, third])
  await untilAnswering(service, second, third)
  look([third])
  await untilAnswering(service, third)
  expect(await answering(service)).toEqual(new Set([third]))
})

test('a name that fails to resolve temporarily loses no replica', async () => {
  const port = await portOf(aReplica(first, 0))
  const { dialled, service, look, warnings } = await behindAName(port, first)
  await untilAnswering(service, first)
  look(new Error('SERVFAIL'))
  await until(() => warnings.length > 0)
  expect(warnings).toEqual(['the addresses of a service cannot be looked up'])
  expect(dialled.isReady()).toBe(true)
  expect(await answering(service)).toEqual(new Set([first]))
})

test('an address without a listener is tried until the listener exists', async () => {
  const server = await aReplica(first, 0)
  const port = await portOf(Promise.resolve(server))
  const { service } = await behindAName(port, first, second)
  await untilAnswering(service, first)
  await aReplica(second, port)
  await untilAnswering(service, first, second)
  server.close()
  await untilAnswering(service, second)
  expect(await answering(service)).toEqual(new Set([second]))
})

async function nextTurns(): Promise<void> {
  for (let count = 0; count < 3; count++) await new Promise<void>((resolve) => setImmediate(resolve))
}

test('CARD-25: a connection that is never established is replaced', async () => {
  const server = await aReplica(first, 0)
  // The first connection is accepted and never answered, like a connection that loses all packets.
  const swallowed: Socket[] = []
  const between = createServer((near) => {
    if (swallowed.length === 0) return void swallowed.push(near)
    const far = connect(Number(server.address.split(':')[1]), first)
    near.pipe(far).pipe(near)
    for (const socket of [near, far]) socket.on('error', () => {})
  })
  between.listen(0, first)
  await once(between, 'listening')
  const timers: (() => void)[] = []
  const clock: Clock = {
    ...systemClock,
    after(delayMs, callback) {
      // The timeout is divided into four parts.
      if (delayMs !== rpcLimits.connectMsMax / 4) return systemClock.after(delayMs, callback)
      timers.push(callback)
      return { cancel: () => {} }
    },
  }
  const warnings: string[] = []
  const log: Log = { ...silentLog, warn: (_, message) => void warnings.push(message ?? '') }
  const { port } = between.address() as AddressInfo
  const dialled = dialContract(notes, { addresses: [`${first}:${port}`], insecureTransport: true, clock, random: Math.random, log })
  onTestFinished(() => {
    dialled.close()
    between.close()
    for (const socket of swallowed) socket.destroy()
  })
  await until(() => swallowed.length === 1 && timers.length === 1)
  expect(dialled.isReady()).toBe(false)
  const passParts = (from: number) => {
    for (let part = from; part < from + 4; part++) timers[part]?.()
  }
  passParts(0)
  await dialled.reached
  expect(await dialled.service.ask({ text: '' })).toEqual({ text: first })
  expect(warnings).toEqual(['a connection to a replica is given up, and another one is made'])
  // The client waits for a silent replica on an open connection.
  passParts(4)
  await nextTurns()
  expect(dialled.isReady()).toBe(true)
})

/** A clock on which only the test ends the wait for an unanswered call. */
function quietClock() {
  const waiting = new Set<() => void>()
  const byHand: readonly number[] = [rpcLimits.unansweredMs, rpcLimits.silentAnswerMs / 4]
  const clock: Clock = {
    ...systemClock,
    after(delayMs, callback) {
      if (!byHand.includes(delayMs)) return systemClock.after(delayMs, callback)
      waiting.add(callback)
      return { cancel: () => void waiting.delete(callback) }
    },
  }
  const ring = () => {
    for (const callback of [...waiting]) {
      waiting.delete(callback)
      callback()
    }
  }
  return { clock, waiting, ring }
}

/** A link to a server; after `silence` no more bytes arrive. */
async function aQuietLink(port: number) {
  let isSilent = false
  const sockets: Socket[] = []
  const between = createServer((near) => {
    const far = connect(port, first)
    sockets.push(near, far)
    near.on('data', (bytes) => isSilent || far.write(bytes))
    far.on('data', (bytes) => isSilent || near.write(bytes))
    for (const socket of [near, far]) socket.on('error', () => {})
  })
  between.listen(0, first)
  await once(between, 'listening')
  onTestFinished(() => {
    between.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    address: `${first}:${(between.address() as AddressInfo).port}`,
    silence() {
      isSilent = true
    },
  }
}

test('CARD-25: a silent replica loses its calls: reads are repeated on another replica, and writes have an unknown outcome', async () => {
  const { address, silence } = await aQuietLink(await portOf(aReplica(first, 0)))
  const other = await aReplica(second, 0, {
    list() {
      const parts = new PushStream<{ text: string }>()
      parts.push({ text: second })
      parts.end()
      return parts
    },
  })
  const { clock, waiting, ring } = quietClock()
  const options = { insecureTransport: true, clock, random: Math.random, log: silentLog }
  const dialled = dialContract(notes, { addresses: [address, other.address], ...options })
  onTestFinished(() => dialled.close())
  const { service } = dialled
  await untilAnswering(service, first, second)
  other.setServing(false)
  await untilAnswering(service, first)
  await until(() => waiting.size === 0)
  silence()
  const write = service.write({ text: '' }).catch((error: unknown) => error)
  const look = service.look({ text: '' })
  const listed = service.list({ text: '' })[Symbol.asyncIterator]().next()
  await until(() => waiting.size === 3)
  other.setServing(true)
  await untilAnswering(service, second)
  // The first timer sends a probe; the next four are the parts of its timeout.
  for (let count = 0; count < 5; count += 1) {
    ring()
    await nextTurns()
  }
  expect(await write).toBeInstanceOf(UnknownOutcomeError)
  expect(await write).toMatchObject({ code: 503 })
  expect([await look, await listed]).toEqual([{ text: second }, { value: { text: second }, done: false }])
})

test('CARD-25: a long call stays with a replica that answers probes', async () => {
  const { promise, resolve } = Promise.withResolvers<{ text: string }>()
  const server = await aReplica(first, 0, { write: () => promise })
  const other = await aReplica(second, 0, { write: () => promise })
  const { clock, waiting, ring } = quietClock()
  const options = { insecureTransport: true, clock, random: Math.random, log: silentLog }
  const dialled = dialContract(notes, { addresses: [server.address, other.address], ...options })
  onTestFinished(() => dialled.close())
  await untilAnswering(dialled.service, first, second)
  const write = dialled.service.write({ text: '' })
  await until(() => waiting.size === 1)
  ring()
  // A probe's timers are cancelled when an answer arrives.
  await until(() => waiting.size === 0)
  resolve({ text: 'late' })
  expect(await write).toEqual({ text: 'late' })
})
