import { once } from 'node:events'
import { MessageChannel, Worker } from 'node:worker_threads'
import { contract, type Service, stream, UnknownOutcomeError, unary, wire } from '@orch/core/contracts'
import { invalid, StatusError } from '@orch/core/meta'
import { expect, onTestFinished, test } from 'vitest'
import { rpcLimits } from './limits.ts'
import { PushStream } from './push-stream.ts'
import { dialThread, serveThread } from './thread-link.ts'

const note = wire.message({ text: wire.string(1), data: wire.optional(wire.bytes(2)) })
const notes = contract('test.v1.Notes', {
  ask: unary(note, note),
  look: unary(note, note, { idempotent: true }),
  follow: stream(note, note),
})
type Notes = Service<typeof notes>
type Note = { readonly text: string; readonly data?: Uint8Array | undefined }

const never = () => new Promise<never>(() => {})

/** Opens both ends in this thread; the messages are the same as between threads. */
function open(given: Partial<Notes>) {
  const service: Notes = { ask: never, look: never, follow: () => new PushStream<Note>(), ...given }
  const { port1, port2 } = new MessageChannel()
  const offer = serveThread(port2, [{ contract: notes, service: service as never }])
  const link = dialThread(port1)
  onTestFinished(() => {
    link.close()
    offer.close()
  })
  return { service: link.service(notes), link, offer }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const until = async (holds: () => boolean) => {
  while (!holds()) await turn()
}
const caught = (error: unknown) => error

test('a call between threads has its context, and its bytes stay with the caller', async () => {
  let seen: unknown
  const { service } = open({
    ask: async ({ text, data }, { timeoutMs, requestId, traceparent } = {}) => {
      seen = { timeoutMs, requestId, traceparent }
      return { text: text.toUpperCase(), data }
    },
  })
  const data = new Uint8Array(3_000_000).fill(7)
  const answer = await service.ask({ text: 'a', data }, { timeoutMs: 90_000.5, requestId: 'r', traceparent: 't' })
  expect(seen).toEqual({ timeoutMs: 90_001, requestId: 'r', traceparent: 't' })
  expect(answer.text).toBe('A')
  expect(answer.data?.length).toBe(3_000_000)
  expect(Buffer.compare(answer.data ?? new Uint8Array(), data)).toBe(0)
})

test('a StatusError arrives complete, and any other error as an unknown outcome without its text', async () => {
  const error = invalid({ group: '', kind: 'Pod' }, 'a', [
    { reason: 'FieldValueInvalid', field: 'spec', message: 'Invalid value: "é": wrong' },
  ])
  const { service } = open({ ask: () => Promise.reject(error), look: () => Promise.reject(new Error('secret')) })
  await expect(service.ask({ text: '' })).rejects.toMatchObject({ status: error.status })
  const unexpected = await service.look({ text: '' }).catch(caught)
  expect(unexpected).toBeInstanceOf(UnknownOutcomeError)
  expect(JSON.stringify((unexpected as StatusError).status)).not.toContain('secret')
})

test('a stream returns its parts in order, then its failure', async () => {
  const error = invalid({ group: '', kind: 'Pod' }, 'a', [])
  const { service } = open({
    follow: () => {
      const parts = new PushStream<Note>()
      for (const text of ['a', 'b']) parts.push({ text })
      parts.fail(error)
      return parts
    },
  })
  const seen: string[] = []
  const reading = async () => {
    for await (const { text } of service.follow({ text: '' })) seen.push(text)
  }
  await expect(reading()).rejects.toMatchObject({ status: error.status })
  expect(seen).toEqual(['a', 'b'])
})

test('a stream without a reader is paused at the window, and continues when it is read', async () => {
  const count = 64
  const data = new Uint8Array(rpcLimits.windowBytes / 8)
  let given = 0
  async function* parts() {
    for (; given < count; given += 1) yield { text: String(given), data }
  }
  const { service } = open({ follow: () => Object.assign(parts(), { close: () => {} }), ask: async (asked) => asked })
  const followed = service.follow({ text: '' })
  await until(() => given > 0)
  // Messages sent earlier have arrived before these answers.
  for (let call = 0; call < count; call += 1) await service.ask({ text: '' })
  expect(given).toBeLessThanOrEqual(8)
  const seen: string[] = []
  for await (const { text } of followed) seen.push(text)
  expect(seen).toEqual(Array.from({ length: count }, (_, index) => String(index)))
})

test('a reader that leaves closes the stream in the other thread', async () => {
  let isClosed = false
  const { service } = open({
    follow: () => {
      const parts = new PushStream<Note>({ onClose: () => (isClosed = true) })
      parts.push({ text: 'a' })
      return parts
    },
  })
  for await (const { text } of service.follow({ text: '' })) {
    expect(text).toBe('a')
    break
  }
  await until(() => isClosed)
  expect(isClosed).toBe(true)
})

test('a cancelled call fails at once, and its signal is aborted in the other thread', async () => {
  let signal: AbortSignal | undefined
  const { service } = open({
    ask: (_, context) => {
      signal = context?.signal
      return never()
    },
  })
  const cancelled = new AbortController()
  const asked = service.ask({ text: '' }, { signal: cancelled.signal }).catch(caught)
  await until(() => signal !== undefined)
  cancelled.abort()
  expect(await asked).toMatchObject({ code: 504, message: 'Timeout: the call was cancelled' })
  await until(() => signal?.aborted === true)
  expect(signal?.aborted).toBe(true)
})

test('a call that is cancelled before it was sent is not sent', async () => {
  let asked = 0
  const { service } = open({
    ask: async (message) => {
      asked += 1
      return message
    },
  })
  const cancelled = new AbortController()
  const failing = service.ask({ text: '' }, { signal: cancelled.signal }).catch(caught)
  cancelled.abort()
  expect(await failing).not.toBeInstanceOf(UnknownOutcomeError)
  await service.ask({ text: '' })
  expect(asked).toBe(1)
})

test('a call without an answer in time has an unknown outcome', async () => {
  const { service } = open({})
  const error = await service.ask({ text: '' }, { timeoutMs: 1 }).catch(caught)
  expect(error).toBeInstanceOf(UnknownOutcomeError)
  expect(error).toMatchObject({ code: 504 })
})

test('a stream that times out fails, and does not end as if it were complete', async () => {
  const { service } = open({
    follow: () => {
      const parts = new PushStream<Note>()
      parts.push({ text: 'a' })
      return parts
    },
  })
  const followed = service.follow({ text: '' }, { timeoutMs: 1 })[Symbol.asyncIterator]()
  const read = async () => {
    for (let part = await followed.next(); ; part = await followed.next()) if (part.done === true) return 'ended'
  }
  expect(await read().catch(caught)).toMatchObject({ code: 504 })
})

test('a cancelled stream is not read further, even if its producer continues', async () => {
  let given = 0
  async function* parts() {
    for (; given < 100_000; given += 1) yield { text: String(given) }
  }
  const { service } = open({ follow: () => Object.assign(parts(), { close: () => {} }), ask: async (asked) => asked })
  const followed = service.follow({ text: '' })
  await until(() => given > 0)
  followed.close()
  let before = -1
  while (before !== given) {
    before = given
    for (let call = 0; call < 3; call += 1) await service.ask({ text: '' })
  }
  expect(given).toBeLessThan(100_000)
})

test('an unknown method is refused', async () => {
  const { link } = open({})
  const other = contract('test.v1.Other', { ask: unary(note, note) })
  await expect(link.service(other).ask({ text: '' })).rejects.toMatchObject({ code: 501 })
})

test('the end of a thread fails open calls: with an unknown outcome for a write, and 503 for other and later calls', async () => {
  const thread = new Worker(
    `const { parentPort } = require('node:worker_threads')
     parentPort.once('message', (port) => port.on('message', () => parentPort.postMessage('asked')))`,
    { eval: true },
  )
  onTestFinished(async () => void (await thread.terminate()))
  const { port1, port2 } = new MessageChannel()
  thread.postMessage(port2, [port2])
  const link = dialThread(port1)
  const service = link.service(notes)
  const asked = [service.ask({ text: '' }), service.look({ text: '' })].map((answer) => answer.catch(caught))
  const followed = service.follow({ text: '' })[Symbol.asyncIterator]().next().catch(caught)
  await once(thread, 'message')
  await thread.terminate()
  await link.gone
  const [write, read] = await Promise.all(asked)
  expect(write).toBeInstanceOf(UnknownOutcomeError)
  expect(write).toMatchObject({ code: 503, message: 'a service cannot be reached' })
  for (const error of [read, await followed, await service.ask({ text: '' }).catch(caught)]) {
    expect(error).toBeInstanceOf(StatusError)
    expect(error).not.toBeInstanceOf(UnknownOutcomeError)
    expect(error).toMatchObject({ code: 503, message: 'a service cannot be reached' })
  }
})
