import { type CallContext, contract, type Service, stream, unary, wire } from '@orch/core/contracts'
import { failed, invalid, StatusError } from '@orch/core/meta'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../log.ts'
import { dialContract } from './dial.ts'
import { directLink } from './direct-link.ts'
import { serveContract } from './offer.ts'
import { PushStream } from './push-stream.ts'
import { openRpcServer } from './server.ts'

const note = wire.message({ text: wire.string(1), size: wire.int64(2), data: wire.optional(wire.bytes(3)) })
const notes = contract('test.v1.Notes', { ask: unary(note, note), follow: stream(note, note) })
type Notes = Service<typeof notes>

async function open(service: Partial<Notes>) {
  const refuse = () => {
    throw failed(501, '', 'not in this test')
  }
  const offer = serveContract(notes, { ask: refuse, follow: refuse, ...service })
  const server = await openRpcServer({ address: '127.0.0.1:0', offers: [offer], log: silentLog })
  const dialled = dialContract(notes, { addresses: [server.address], random: Math.random, log: silentLog })
  onTestFinished(() => {
    dialled.close()
    server.close()
  })
  // On a busy machine a connection may take longer than a call waits for one.
  await dialled.reached
  return { ...dialled, server, offer }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const until = async (holds: () => boolean) => {
  while (!holds()) await turn()
}

test('a call gets its answer', async () => {
  const { service } = await open({ ask: async ({ text, size }) => ({ text: text.toUpperCase(), size: size + 1 }) })
  expect(await service.ask({ text: 'a', size: 2 ** 52 })).toEqual({ text: 'A', size: 2 ** 52 + 1 })
})

test('messages larger than the gRPC default of 4 MB pass', async () => {
  const { service } = await open({ ask: async ({ data }) => ({ text: '', size: data?.length ?? 0, data }) })
  const answer = await service.ask({ text: '', size: 0, data: new Uint8Array(5_000_000).fill(7) })
  expect([answer.size, answer.data?.at(-1)]).toEqual([5_000_000, 7])
})

test('a StatusError arrives complete, from a call and from a stream', async () => {
  const errors = Array.from({ length: 100 }, (_, index) => ({
    reason: 'FieldValueInvalid' as const,
    field: `spec.f${index}`,
    message: 'Invalid value: "é": wrong',
  }))
  const error = invalid({ group: '', kind: 'Pod' }, 'a', errors)
  const service: Partial<Notes> = {
    ask: async () => {
      throw error
    },
    follow: () => {
      const parts = new PushStream<{ text: string; size: number }>()
      parts.push({ text: 'first', size: 1 })
      parts.fail(error)
      return parts
    },
  }
  const { service: remote } = await open(service)
  await expect(remote.ask({ text: '', size: 0 })).rejects.toMatchObject({ status: error.status })
  const seen: unknown[] = []
  const reading = async () => {
    for await (const part of remote.follow({ text: '', size: 0 })) seen.push(part)
  }
  await expect(reading()).rejects.toMatchObject({ status: error.status })
  expect(seen).toEqual([{ text: 'first', size: 1 }])
})

test('a stream that failed before its first read rejects that read', async () => {
  const { service, server } = await open({ follow: () => new PushStream() })
  const stream = service.follow({ text: '', size: 0 })
  server.close()
  for (let turns = 0; turns < 20; turns += 1) await turn()
  await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 503 })
})

test('another error arrives as an internal error without its text', async () => {
  const { service } = await open({ ask: async () => Promise.reject(new Error('secret')) })
  const error = await service.ask({ text: '', size: 0 }).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(StatusError)
  expect(error).toMatchObject({ code: 500, reason: 'InternalError' })
  expect(JSON.stringify((error as StatusError).status)).not.toContain('secret')
})

test('an unreachable service is a 503', async () => {
  const { service, server } = await open({})
  server.close()
  await expect(service.ask({ text: '', size: 0 })).rejects.toMatchObject({ code: 503, reason: 'ServiceUnavailable' })
})

test('an address in use is reported in a sentence', async () => {
  const { server } = await open({})
  const again = openRpcServer({ address: server.address, offers: [], log: silentLog })
  await expect(again).rejects.toThrow(/^the address cannot be listened on \(EADDRINUSE\)$/)
})

test('the deadline and the trace are sent with the call, and the caller times out', async () => {
  let seen: CallContext = {}
  const { service } = await open({
    ask: (_, context = {}) => {
      seen = context
      return new Promise(() => {})
    },
  })
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  await expect(service.ask({ text: '', size: 0 }, { timeoutMs: 1_000, traceparent })).rejects.toMatchObject({ reason: 'Timeout' })
  expect(seen.traceparent).toBe(traceparent)
  expect(seen.timeoutMs).toBeGreaterThan(0)
  expect(seen.timeoutMs).toBeLessThanOrEqual(1_000)
  await until(() => seen.signal?.aborted === true)
  expect(seen.signal?.aborted).toBe(true)
})

test('an aborted signal cancels the call on the other side too', async () => {
  let seen: CallContext | undefined
  const { service } = await open({
    ask: (_, context) => {
      seen = context
      return new Promise(() => {})
    },
  })
  const stop = new AbortController()
  const answer = service.ask({ text: '', size: 0 }, { signal: stop.signal })
  await until(() => seen !== undefined)
  stop.abort()
  await expect(answer).rejects.toMatchObject({ reason: 'Timeout' })
  await until(() => seen?.signal?.aborted === true)
  expect(seen?.signal?.aborted).toBe(true)
})

test('closing a stream, leaving its loop or aborting its signal ends it at the producer, and without an error at the reader', async () => {
  const produced: PushStream<{ text: string; size: number }>[] = []
  const { service } = await open({
    follow: () => {
      const parts = new PushStream<{ text: string; size: number }>()
      produced.push(parts)
      parts.push({ text: 'a', size: 1 })
      return parts
    },
  })
  const stop = new AbortController()
  const closed = service.follow({ text: '', size: 0 })
  const signalled = service.follow({ text: '', size: 0 }, { signal: stop.signal })
  for await (const part of service.follow({ text: '', size: 0 })) if (part.text === 'a') break
  const [first, second] = [closed, signalled].map((parts) => parts[Symbol.asyncIterator]())
  expect(await Promise.all([first?.next(), second?.next()])).toMatchObject([{ value: { text: 'a' } }, { value: { text: 'a' } }])
  const waiting = [first?.next(), second?.next()]
  closed.close()
  stop.abort()
  expect(await Promise.all(waiting)).toMatchObject([{ done: true }, { done: true }])
  await until(() => produced.length === 3 && produced.every((parts) => parts.ended))
  expect(produced.length).toBe(3)
})

test('a reader that does not read stops the producer', async () => {
  let sent = 0
  const { service } = await open({
    follow: () => {
      const parts = {
        close: () => {},
        async *[Symbol.asyncIterator]() {
          for (; sent < 200; sent += 1) yield { text: '', size: sent, data: new Uint8Array(100_000) }
        },
      }
      return parts
    },
  })
  const parts = service.follow({ text: '', size: 0 })[Symbol.asyncIterator]()
  await parts.next()
  for (let before = -1; before !== sent; ) {
    before = sent
    for (let index = 0; index < 200; index += 1) await turn()
  }
  expect(sent).toBeLessThan(100)
  let received = 1
  for (let part = await parts.next(); part.done !== true; part = await parts.next()) received += 1
  expect(received).toBe(200)
})

test('CARD-25: a connection is established again when the service is back', async () => {
  const { service, server, offer } = await open({ ask: async (request) => request })
  await service.ask({ text: 'a', size: 1 })
  server.close()
  await expect(service.ask({ text: 'b', size: 2 })).rejects.toMatchObject({ code: 503 })
  const again = await openRpcServer({ address: server.address, offers: [offer], log: silentLog })
  onTestFinished(() => again.close())
  const answer = async () => {
    for (;;) {
      const outcome = await service.ask({ text: 'c', size: 3 }).catch(() => undefined)
      if (outcome !== undefined) return outcome
      await turn()
    }
  }
  expect(await answer()).toEqual({ text: 'c', size: 3 })
})

test('a direct link freezes its messages, and notices changed bytes', async () => {
  const kept: { data?: Uint8Array | undefined } = {}
  const link = directLink(notes, { ask: async (request) => Object.assign(kept, request), follow: () => new PushStream() }, { freeze: true })
  const request = { text: 'a', size: 1, data: new Uint8Array([1, 2, 3]) }
  const answer = await link.service.ask(request)
  expect(() => Object.assign(request, { text: 'b' })).toThrow(TypeError)
  expect(() => Object.assign(answer, { text: 'b' })).toThrow(TypeError)
  link.verify()
  kept.data?.set([9])
  expect(() => link.verify()).toThrow('changed')
})
