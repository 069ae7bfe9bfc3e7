import { describe, expect, test } from 'vitest'
import { limits } from '../limits.ts'
import { Outbox } from './outbox.ts'

const { watchPieceBytesMin: small, watchPieceBytesMax: large } = limits
const third = Math.floor(large / 3)

/** An outbox over a connection whose sends the test releases. */
function anOutbox({ othersUnread = 0 } = {}) {
  const written: { bytes: Uint8Array; isShared: boolean }[] = []
  const pending: (() => void)[] = []
  const counts = { total: othersUnread, isEnded: false, nowMs: 0 }
  let uncounted = 0
  let given = 0
  const note = (isShared: boolean) => (bytes: Uint8Array | string, onTaken?: () => void) => {
    written.push({ bytes: Buffer.from(bytes), isShared })
    if (onTaken === undefined) uncounted += bytes.length
    else {
      given += bytes.length
      pending.push(() => {
        given -= bytes.length
        onTaken()
      })
    }
    return true
  }
  const outbox = new Outbox({
    exchange: {
      connection: {},
      isClosed: false,
      get waitingBytes() {
        return uncounted + given
      },
      write: note(false),
      writeShared: note(true),
      writeEvents: ({ length }, onTaken) => void note(true)(Buffer.alloc(length, 'e'), onTaken),
      end() {
        counts.isEnded = true
      },
    },
    user: 'a',
    unread: {
      get total() {
        return counts.total
      },
      add(_, bytes) {
        counts.total += bytes
      },
      remove(_, bytes) {
        counts.total -= bytes
      },
    },
    monotonic: () => counts.nowMs,
    cutOff: () => undefined,
  })
  return { outbox, written, counts, take: () => pending.shift()?.(), sizes: () => written.map(({ bytes }) => bytes.length) }
}

const aFrame = (length: number, fill = 'x') => Buffer.alloc(length, fill)

describe('an outbox', () => {
  test('writes events without their text whole and in order with bytes', () => {
    const { outbox, written, take } = anOutbox()
    const events = (length: number) => ({ list: [], length, objectOf: () => expect.unreachable() })
    outbox.writeEvents(events(2))
    outbox.writeShared(aFrame(large))
    outbox.writeEvents(events(3 * large))
    outbox.writeShared(aFrame(1))
    for (let count = 0; count < 4; count++) take()
    const shown = written.map(({ bytes }) => `${String.fromCharCode(bytes[0] ?? 0)}${bytes.length}`)
    expect(shown).toEqual(['e2', `x${large - 2}`, 'x2', `e${3 * large}`, 'x1'])
    expect(outbox.unreadBytes).toBe(0)
  })

  test('writes small parts at once, as bytes that all watchers share', () => {
    const { outbox, written, counts } = anOutbox()
    outbox.writeShared(aFrame(100))
    outbox.write([aFrame(10), aFrame(20)])
    expect(written.map(({ bytes, isShared }) => [bytes.length, isShared])).toEqual([
      [100, true],
      [30, false],
    ])
    expect([outbox.waitingBytes, counts.total, outbox.drained()]).toEqual([130, 0, undefined])
  })

  test('writes the next piece after the previous one was read', async () => {
    const { outbox, take, sizes, counts } = anOutbox()
    outbox.writeShared(aFrame(2.5 * large))
    const drained = outbox.drained()
    expect([sizes(), outbox.unreadBytes, counts.total]).toEqual([[large], 2.5 * large, 2.5 * large])
    counts.nowMs = 7
    take()
    expect([sizes(), outbox.unreadBytes, outbox.takenMs]).toEqual([[large, large], 1.5 * large, 7])
    take()
    take()
    expect([sizes(), counts.total]).toEqual([[large, large, large / 2], 0])
    await drained
  })

  test('sends small pieces when many bytes are unread', () => {
    const { outbox, take, sizes } = anOutbox({ othersUnread: limits.unreadBytesRelaxed })
    outbox.writeShared(aFrame(2 * small + 1))
    take()
    take()
    expect(sizes()).toEqual([small, small, 1])
  })

  test('keeps the order of events, and sends several while the connection has capacity', () => {
    const { outbox, take, written, sizes } = anOutbox()
    outbox.writeShared(aFrame(small + 1, 'a'))
    for (const fill of ['b', 'c', 'd']) outbox.writeShared(aFrame(third, fill))
    expect(sizes()).toEqual([small + 1, third, third])
    take()
    expect(Buffer.concat(written.map(({ bytes }) => bytes)).toString()).toBe(
      ['a'.repeat(small + 1), ...['b', 'c', 'd'].map((fill) => fill.repeat(third))].join(''),
    )
    expect(written.every(({ isShared }) => isShared)).toBe(true)
  })

  test('is not delayed by uncounted bytes', () => {
    const { outbox, sizes } = anOutbox()
    outbox.writeShared(aFrame(100))
    outbox.writeShared(aFrame(3 * large))
    expect(sizes()).toEqual([100, large - 100])
  })

  test('joins small parts, and keeps large ones unchanged', () => {
    const { outbox, sizes } = anOutbox()
    outbox.write([10, 20, small + 1, 5].map((length) => aFrame(length)))
    expect(sizes()).toEqual([30, small + 1, 5])
  })

  test('writes each byte once, for any sizes', () => {
    const { outbox, take, written } = anOutbox({ othersUnread: limits.unreadBytesRelaxed })
    const lengths = [1, small - 1, small, small + 1, 3 * small, 5, large + 7, 2]
    const frames = lengths.map((length, index) => aFrame(length, String(index)))
    outbox.write(frames)
    for (let count = 0; count < 100; count++) take()
    expect(Buffer.concat(written.map(({ bytes }) => bytes)).equals(Buffer.concat(frames))).toBe(true)
    expect(Math.max(...written.map(({ bytes }) => bytes.length))).toBe(small)
  })

  test('ends the answer after everything was read', () => {
    const { outbox, take, counts } = anOutbox()
    outbox.writeShared(aFrame(large + 1))
    outbox.end()
    outbox.writeShared(aFrame(1))
    expect(counts.isEnded).toBe(false)
    take()
    take()
    expect([counts.isEnded, counts.total]).toEqual([true, 0])
  })

  test('that is closed holds nothing, and no sender waits for it', async () => {
    const { outbox, take, counts, sizes } = anOutbox()
    outbox.writeShared(aFrame(3 * large))
    const drained = outbox.drained()
    outbox.close()
    await drained
    take()
    expect([counts.total, outbox.unreadBytes, sizes()]).toEqual([0, 0, [large]])
  })
})
