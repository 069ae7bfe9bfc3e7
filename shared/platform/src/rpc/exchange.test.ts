import { credentials, Metadata, status } from '@grpc/grpc-js'
import { type CallContext, contract, type Service, stream, UnknownOutcomeError, unary, wire } from '@orch/core/contracts'
import { failed } from '@orch/core/meta'
import { fc } from '@orch/testkit/chance'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../clock.ts'
import { silentLog } from '../log.ts'
import { createMetrics } from '../metrics.ts'
import type { SpanOptions, Tracer } from '../telemetry.ts'
import { Batches } from './batches.ts'
import { type DialOptions, dialContract } from './dial.ts'
import { type CallItem, callFrames, type ReplyItem, replyFrames } from './frames.ts'
import { rpcLimits } from './limits.ts'
import { serveContract } from './offer.ts'
import { exchangeMethod, methodPath } from './path.ts'
import { PushStream } from './push-stream.ts'
import { Replica } from './replica.ts'
import { openRpcServer, type RpcServerOptions } from './server.ts'

const note = wire.message({ text: wire.string(1), data: wire.optional(wire.bytes(2)) })
const hot = contract('test.v1.Hot', {
  write: unary(note, note, { hot: true }),
  read: unary(note, note, { hot: true, idempotent: true }),
  slow: unary(note, note),
  follow: stream(note, note, { endless: true }),
})
type Hot = Service<typeof hot>

const turn = () => new Promise((resolve) => setImmediate(resolve))
const until = async (holds: () => boolean) => {
  while (!holds()) await turn()
}

async function open(service: Partial<Hot>, options: { server?: Partial<RpcServerOptions>; dial?: Partial<DialOptions> } = {}) {
  const server = await serve(service, options.server)
  const dialled = dial([server.address], options.dial)
  // On a busy machine a connection may take longer than a call waits for one.
  await dialled.reached
  return { ...dialled, server }
}

async function serve(service: Partial<Hot>, options: Partial<RpcServerOptions> = {}) {
  const refuse = () => {
    throw failed(501, '', 'not in this test')
  }
  const offers = [serveContract(hot, { write: refuse, read: refuse, slow: refuse, follow: refuse, ...service })]
  const server = await openRpcServer({ address: '127.0.0.1:0', offers, log: silentLog, ...options })
  onTestFinished(() => server.close())
  return server
}

function dial(addresses: readonly string[], options: Partial<DialOptions> = {}) {
  const dialled = dialContract(hot, { addresses, random: Math.random, log: silentLog, ...options })
  onTestFinished(() => dialled.close())
  return dialled
}

test('many parallel calls each get their own answer', async () => {
  const { service } = await open({ write: async ({ text }) => ({ text: `${text}!` }) })
  const answers = await Promise.all(Array.from({ length: 3_000 }, (_, index) => service.write({ text: String(index) })))
  expect(answers.map(({ text }) => text)).toEqual(Array.from({ length: 3_000 }, (_, index) => `${index}!`))
})

test('a StatusError arrives complete, and another error as an unknown outcome without its text', async () => {
  const refusal = failed(409, 'Conflict', 'someone was first', { details: { name: 'a', causes: [{ field: 'spec', message: 'é' }] } })
  const { service } = await open({
    write: async ({ text }) => {
      throw text === 'refuse' ? refusal : new Error('secret')
    },
  })
  const refused = await service.write({ text: 'refuse' }).catch((error: unknown) => error)
  expect(refused).toMatchObject({ status: refusal.status })
  expect(refused).not.toBeInstanceOf(UnknownOutcomeError)
  const surprised = await service.write({ text: '' }).catch((error: unknown) => error)
  expect(surprised).toBeInstanceOf(UnknownOutcomeError)
  expect(JSON.stringify((surprised as UnknownOutcomeError).status)).not.toContain('secret')
})

test('an outcome that is unknown to the callee is unknown to the caller too', async () => {
  const unknown = new UnknownOutcomeError(failed(504, 'Timeout', 'the store has not answered').status)
  const { service } = await open({ write: () => Promise.reject(unknown), slow: () => Promise.reject(unknown) })
  for (const call of [service.write, service.slow]) {
    const error = await call({ text: '' }).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(UnknownOutcomeError)
    expect(error).toMatchObject({ status: unknown.status })
  }
})

test('deadline, trace and cancellation travel with each call', async () => {
  const seen: CallContext[] = []
  const { service } = await open({
    write: (_, context = {}) => {
      seen.push(context)
      return new Promise(() => {})
    },
  })
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const stop = new AbortController()
  const late = service.write({ text: '' }, { timeoutMs: 1_000, traceparent }).catch((error: unknown) => error)
  const cancelled = service.write({ text: '' }, { signal: stop.signal }).catch((error: unknown) => error)
  await until(() => seen.length === 2)
  stop.abort()
  expect(await cancelled).toMatchObject({ reason: 'Timeout' })
  expect(await late).toBeInstanceOf(UnknownOutcomeError)
  await until(() => seen.every(({ signal }) => signal?.aborted === true))
  expect(seen[0]).toMatchObject({ traceparent, timeoutMs: expect.any(Number) })
  expect(seen[0]?.timeoutMs).toBeLessThanOrEqual(1_000)
})

test('a sent call whose stream broke has an unknown outcome, and a read is repeated on another replica', async () => {
  const first = await serve({ write: () => new Promise(() => {}), read: () => new Promise(() => {}) })
  const second = await serve({ read: async (request) => request }, { serving: false })
  const dialled = dial([first.address, second.address])
  await dialled.reached
  const seen = Promise.all([
    dialled.service.write({ text: 'w' }).catch((error: unknown) => error),
    dialled.service.read({ text: 'r' }).catch((error: unknown) => error),
  ])
  for (let turns = 0; turns < 20; turns += 1) await turn()
  first.close()
  second.setServing(true)
  const [write, read] = await seen
  expect(write).toBeInstanceOf(UnknownOutcomeError)
  expect(write).toMatchObject({ code: 503 })
  expect(read).toEqual({ text: 'r' })
})

test('a call without a listener is refused within a second as never sent', async () => {
  const server = await serve({})
  server.close()
  const { service } = dial([server.address])
  const error = await service.write({ text: '' }).catch((caught: unknown) => caught)
  expect(error).toMatchObject({ code: 503, status: { details: { retryAfterSeconds: 1 } } })
  expect(error).not.toBeInstanceOf(UnknownOutcomeError)
})

test('a stopping server answers its accepted calls and ends endless streams, without loss', async () => {
  const answers: (() => void)[] = []
  const slow = ({ text }: { text: string }) =>
    text === 'quick'
      ? Promise.resolve({ text: 'first' })
      : new Promise<{ text: string }>((resolve) => answers.push(() => resolve({ text })))
  const first = await serve({ write: slow, slow, follow: () => new PushStream() })
  const second = await serve({ write: async () => ({ text: 'second' }) })
  const dialled = dial([first.address])
  const both = dial([first.address, second.address])
  await Promise.all([dialled.reached, both.reached])
  const underWay = [dialled.service.write({ text: 'a' }), dialled.service.slow({ text: 'b' })]
  const followed = dialled.service.follow({ text: '' })[Symbol.asyncIterator]().next()
  const end = followed.catch((error: unknown) => error)
  await until(() => answers.length === 2 && both.isReady())
  const drained = first.drain()
  const elsewhere: unknown[] = []
  while (elsewhere.filter((text) => text === 'second').length < 50) {
    elsewhere.push((await both.service.write({ text: 'quick' })).text)
  }
  for (const answer of answers) answer()
  expect(await Promise.all(underWay)).toEqual([{ text: 'a' }, { text: 'b' }])
  await drained
  expect(await end).toMatchObject({ code: 503 })
})

test('a message beyond the bound is refused, and others continue', async () => {
  const { service } = await open({ write: async ({ text }) => ({ text }) })
  const huge = service.write({ text: '', data: new Uint8Array(rpcLimits.exchangePayloadBytesMax) })
  await expect(huge).rejects.toMatchObject({ code: 413 })
  expect(await service.write({ text: 'small' })).toEqual({ text: 'small' })
})

test('more calls than the bound are refused at once', async () => {
  const { service } = await open({ write: ({ text }) => (text === 'last' ? Promise.resolve({ text }) : new Promise(() => {})) })
  await service.write({ text: 'last' })
  const stops = Array.from({ length: rpcLimits.exchangeCallsMax }, () => new AbortController())
  const waiting = stops.map(({ signal }) => service.write({ text: '' }, { signal }))
  const ended = Promise.allSettled(waiting)
  await turn()
  await expect(service.write({ text: 'last' })).rejects.toMatchObject({ code: 503 })
  for (const stop of stops) stop.abort()
  expect((await ended).every(({ status: outcome }) => outcome === 'rejected')).toBe(true)
  expect(await service.write({ text: 'last' })).toEqual({ text: 'last' })
})

test('batches wait for drain, count the pending items, and return them', () => {
  const frames: number[][] = []
  let drain = () => {}
  const sink = {
    write: ({ items }: { items: readonly number[] }) => frames.push([...items]) < 2,
    once: (_: 'drain', listener: () => void) => {
      drain = listener
    },
  }
  const batches = new Batches<number>(sink)
  const half = rpcLimits.batchBytesMax / 2
  for (const item of [1, 2, 3, 4, 5, 6]) batches.push(item, half)
  return turn().then(() => {
    expect(frames).toEqual([
      [1, 2],
      [3, 4],
    ])
    expect(batches.waitingBytes).toBe(2 * half)
    expect([batches.retract(5), batches.retract(1)]).toEqual([true, false])
    drain()
    expect(frames.at(-1)).toEqual([6])
    expect(batches.waitingBytes).toBe(0)
  })
})

test('a malformed frame ends only its own stream', async () => {
  const { service, server } = await open({ write: async (request) => request })
  expect(await service.write({ text: 'a' })).toEqual({ text: 'a' })
  const replica = new Replica({
    target: { address: server.address, host: '127.0.0.1' },
    credentialsFor: () => credentials.createInsecure(),
    log: silentLog,
    service: hot.name,
    clock: systemClock,
    random: Math.random,
    onReadiness: () => {},
    hasOther: () => false,
  })
  onTestFinished(() => replica.close())
  const plain = (bytes: Buffer) => bytes
  const bad = replica.client.makeBidiStreamRequest(methodPath(hot.name, exchangeMethod), plain, plain, new Metadata())
  bad.on('data', () => {})
  bad.on('error', () => {})
  const ended = new Promise<number>((resolve) => bad.on('status', ({ code }) => resolve(code)))
  bad.write(Buffer.from([10, 250, 1, 2, 3]))
  expect(await ended).toBe(status.INTERNAL)
  expect(await service.write({ text: 'b' })).toEqual({ text: 'b' })
})

const payload = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))
const callItems: fc.Arbitrary<CallItem> = fc.oneof(
  fc.record({
    kind: fc.constant('call' as const),
    id: fc.maxSafeNat(),
    method: fc.string(),
    payload,
    timeoutMs: fc.maxSafeNat(),
    traceparent: fc.string(),
    requestId: fc.string(),
  }),
  fc.record({ kind: fc.constant('call' as const), id: fc.maxSafeNat(), method: fc.string(), payload }),
  fc.record({ kind: fc.constant('cancel' as const), id: fc.maxSafeNat() }),
  fc.record({ kind: fc.constant('taken' as const), id: fc.maxSafeNat(), bytes: fc.maxSafeNat() }),
)
const replyItems: fc.Arbitrary<ReplyItem> = fc.oneof(
  fc.record({ kind: fc.constant('answer' as const), id: fc.maxSafeNat(), payload }),
  fc.record({
    kind: fc.constant('failure' as const),
    id: fc.maxSafeNat(),
    status: fc.constant(failed(410, 'Expired', 'ü').status),
    isUnknown: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('leaving' as const) }),
  fc.record({ kind: fc.constant('part' as const), id: fc.maxSafeNat(), payload }),
  fc.record({ kind: fc.constant('end' as const), id: fc.maxSafeNat() }),
)

test('frames are decoded unchanged, and random bytes give a frame or an error', () => {
  fc.assert(fc.property(fc.array(callItems), (items) => void expect(callFrames.decode(callFrames.encode({ items }))).toEqual({ items })))
  fc.assert(fc.property(fc.array(replyItems), (items) => void expect(replyFrames.decode(replyFrames.encode({ items }))).toEqual({ items })))
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      for (const codec of [callFrames, replyFrames]) expect(readOrFail(() => codec.decode(Buffer.from(bytes)))).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})

/** True if the reader returns a frame or fails with its usual error. */
function readOrFail(read: () => unknown): boolean {
  try {
    return Array.isArray((read() as { items: unknown }).items)
  } catch (error) {
    return error instanceof Error
  }
}

test('CARD-22: both sides of a call create spans of one trace and measure its duration', async () => {
  const spans: { name: string; options: SpanOptions; ended: boolean }[] = []
  const tracer: Tracer = {
    start(name, options) {
      const span = { name, options, ended: false }
      spans.push(span)
      return {
        traceparent: `00-0af7651916cd43dd8448eb211c80319c-000000000000000${spans.length}-01`,
        rename: () => {},
        attribute: () => {},
        fail: () => {},
        end: () => {
          span.ended = true
        },
      }
    },
  }
  const metrics = createMetrics({ process: false })
  let inner: string | undefined
  const write = async (request: { text: string }, context: CallContext = {}) => {
    inner = context.traceparent
    return request
  }
  const { service } = await open({ write }, { server: { tracer, metrics }, dial: { tracer, metrics } })
  const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  await service.write({ text: '' }, { traceparent: parent })
  const [client, server] = spans.filter(({ name }) => name === 'test.v1.Hot/Write')
  expect(client).toMatchObject({ options: { kind: 'client', parent }, ended: true })
  expect(server).toMatchObject({ options: { kind: 'server', parent: expect.stringContaining('0af7651916cd43dd') }, ended: true })
  expect(server?.options.parent).not.toBe(parent)
  expect(inner).not.toBe(server?.options.parent)
  const text = await metrics.text()
  expect(text).toContain('orch_rpc_client_duration_seconds_count{service="test.v1.Hot",method="Write",code="200"} 1')
  expect(text).toContain('orch_rpc_server_duration_seconds_count{service="test.v1.Hot",method="Write",code="200"} 1')
})
