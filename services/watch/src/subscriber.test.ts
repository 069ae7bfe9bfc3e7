import type { CallContext, SubscribeRequest, WatchPart } from '@orch/core/contracts'
import type { StatusError } from '@orch/core/meta'
import { describe, expect, test } from 'vitest'
import type { Distributor } from './distributors.ts'
import { Subscriber } from './subscriber.ts'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A subscription from revision 5 on, and its reader's first parts. */
function open({ bytesMax = 100, context = {} }: { bytesMax?: number; context?: CallContext } = {}) {
  const ended: Subscriber[] = []
  const request = { epoch: 'e1', after: 5 } as unknown as SubscribeRequest
  const distributor = {} as unknown as Distributor
  const subscriber = new Subscriber({ request, context, distributor, bytesMax, pieceBytesMax: 32_000, onEnd: (one) => ended.push(one) })
  const read = async () => {
    const parts: WatchPart[] = []
    for await (const part of subscriber.stream) parts.push(part)
    return parts
  }
  return { subscriber, ended, read, distributor }
}
const events = (last: number, bytes: number) => ({ kind: 'events' as const, frames: new Uint8Array(bytes), count: 1, last })

describe('a subscription', () => {
  test('begins at the requested revision', () => {
    const { subscriber, distributor } = open()
    expect([subscriber.sent, subscriber.epoch, subscriber.distributor === distributor, subscriber.isEnded]).toEqual([5, 'e1', true, false])
  })

  test('WATCH-09: advances with events and positions, and never goes back', async () => {
    const { subscriber, read } = open()
    subscriber.events(events(8, 10))
    subscriber.position(7)
    subscriber.position(8)
    subscriber.position(9)
    subscriber.advance(6)
    expect(subscriber.sent).toBe(9)
    subscriber.advance(12)
    expect(subscriber.sent).toBe(12)
    subscriber.stream.end()
    expect((await read()).map((part) => (part.kind === 'position' ? part.revision : part.kind))).toEqual(['events', 8, 9])
  })

  test('joins unread events into one piece, up to a bound and to the next position', async () => {
    const { subscriber, read } = open({ bytesMax: 1_000_000 })
    const [first, second] = ['one', 'two'].map((text) => Buffer.from(text))
    const origin = (committedMs: number) => ({ committedMs, traceparents: [`trace-${committedMs}`] })
    subscriber.events({ kind: 'events', frames: first ?? Buffer.alloc(0), count: 3, last: 6, older: [1], origin: origin(10) })
    subscriber.events({ kind: 'events', frames: second ?? Buffer.alloc(0), count: 2, last: 8, older: [0, 1], origin: origin(20) })
    subscriber.position(9)
    subscriber.events(events(10, 20_000))
    subscriber.events(events(11, 20_000))
    expect(subscriber.stream.waitingBytes).toBe(40_006)
    subscriber.stream.end()
    const [joined, ...others] = await read()
    expect(joined).toEqual({
      kind: 'events',
      frames: Buffer.from('onetwo'),
      count: 5,
      last: 8,
      older: [1, 3, 4],
      origin: { committedMs: 10, traceparents: ['trace-10', 'trace-20'] },
    })
    expect(others.map((part) => (part.kind === 'events' ? part.last : part.kind))).toEqual(['position', 10, 11])
  })

  test('may have exactly the bound of bytes in a piece', async () => {
    const { subscriber, read } = open({ bytesMax: 1_000_000 })
    subscriber.events(events(6, 20_000))
    subscriber.events(events(7, 12_000))
    subscriber.events(events(8, 1))
    subscriber.stream.end()
    expect((await read()).map((part) => part.kind === 'events' && [part.last, part.frames.length])).toEqual([
      [7, 32_000],
      [8, 1],
    ])
  })

  test('ends when more bytes than its bound are unread', async () => {
    const { subscriber, ended, read } = open({ bytesMax: 100 })
    subscriber.events(events(6, 60))
    subscriber.events(events(7, 40))
    expect(subscriber.isEnded).toBe(false)
    subscriber.events(events(8, 1))
    expect([subscriber.isEnded, ended]).toEqual([true, [subscriber]])
    const error: StatusError = await read().then(
      () => expect.unreachable(),
      (thrown) => thrown,
    )
    expect([error.code, error.message]).toEqual([503, expect.stringContaining('the subscriber has not read')])
  })

  test('WATCH-15: that has expired reports the requested or reached revision, and the oldest available revision', async () => {
    const first = open()
    first.subscriber.expired(20)
    expect(await first.read()).toEqual([{ kind: 'expired', asked: 5, oldest: 20 }])
    const second = open()
    second.subscriber.advance(9)
    second.subscriber.expired(20)
    expect([await second.read(), second.subscriber.isEnded]).toEqual([[{ kind: 'expired', asked: 9, oldest: 20 }], true])
  })

  test('whose store was replaced reports that, and ends', async () => {
    const { subscriber, read, ended } = open()
    subscriber.replaced()
    expect(await read()).toEqual([{ kind: 'replaced' }])
    expect(ended).toEqual([subscriber])
  })

  test('ends with its reader, once, and raises a signal for its work', () => {
    const { subscriber, ended } = open()
    expect(subscriber.ended.aborted).toBe(false)
    subscriber.stream.close()
    subscriber.stream.close()
    expect([subscriber.ended.aborted, ended]).toEqual([true, [subscriber]])
  })

  test('ends with the signal of its caller', () => {
    const caller = new AbortController()
    const { subscriber, ended } = open({ context: { signal: caller.signal } })
    caller.abort()
    expect([subscriber.isEnded, ended]).toEqual([true, [subscriber]])
  })

  test('is drained when nothing is queued, when its reader has read everything, or when it ends', async () => {
    const { subscriber, read } = open()
    await subscriber.drained()
    subscriber.events(events(6, 10))
    let isDrained = false
    const drained = subscriber.drained().then(() => {
      isDrained = true
    })
    await turn()
    expect(isDrained).toBe(false)
    void read()
    await drained
    const other = open()
    other.subscriber.events(events(6, 10))
    const ended = other.subscriber.drained()
    other.subscriber.stream.close()
    await ended
    await other.subscriber.drained()
    expect(isDrained).toBe(true)
  })
})
