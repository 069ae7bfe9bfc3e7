import { TimerWheel } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { describe, expect, test } from 'vitest'
import { UnreadBytes, type UnreadHolder } from './unread-bytes.ts'

const [connectionMax, userMax] = [100, 200]

/** Limits of 100 bytes for a connection and 200 for a user, and watches by name; `ended` has the names of ended ones. */
function someWatches() {
  const clock = createFakeClock()
  const unread = new UnreadBytes({
    perConnectionMax: connectionMax,
    perUserMax: userMax,
    slowMs: 1_000,
    clock,
    wheel: new TimerWheel({ clock }),
  })
  const ended: string[] = []
  const aWatch = (name: string, { connection, user }: { connection: object; user: string }) => {
    const watch = {
      connection,
      user,
      unreadBytes: 0,
      takenMs: clock.monotonic(),
      cutOff() {
        ended.push(name)
        watch.take(watch.unreadBytes)
      },
      wait(bytes: number) {
        watch.unreadBytes += bytes
        unread.add(watch, bytes)
      },
      take(bytes: number) {
        watch.unreadBytes -= bytes
        watch.takenMs = clock.monotonic()
        unread.remove(watch, bytes)
      },
    } satisfies UnreadHolder & Record<string, unknown>
    return watch
  }
  return { clock, unread, ended, aWatch }
}

describe('unread bytes of watches', () => {
  test('LIM-12: beyond the bound of a connection end the longest-stalled watch, and a quarter is free then', () => {
    const { clock, ended, aWatch, unread } = someWatches()
    const connection = {}
    const [first, second, third] = ['first', 'second', 'third'].map((name) => aWatch(name, { connection, user: 'a' }))
    second?.wait(30)
    clock.advance(2_000)
    third?.wait(30)
    clock.advance(2_000)
    first?.wait(40)
    expect(ended).toEqual([])
    third?.take(1)
    clock.advance(2_000)
    first?.wait(20)
    expect(ended).toEqual(['second', 'first'])
    expect(unread.total).toBe(29)
  })

  test('LIM-12: are bounded for a user over all connections, and each user has a bound', () => {
    const { clock, ended, aWatch } = someWatches()
    const own = Array.from({ length: 3 }, (_, index) => aWatch(`own ${index}`, { connection: {}, user: 'a' }))
    const other = aWatch('other', { connection: {}, user: 'b' })
    other.wait(90)
    for (const watch of own) {
      clock.advance(1_500)
      watch.wait(60)
    }
    expect(ended).toEqual([])
    clock.advance(1_500)
    own[2]?.wait(30)
    expect(ended).toEqual(['own 0'])
  })

  test('LIM-12: do not end a watch whose client has read within the last second', () => {
    const { clock, ended, aWatch } = someWatches()
    const connection = {}
    const reader = aWatch('reader', { connection, user: 'a' })
    const sleeper = aWatch('sleeper', { connection, user: 'a' })
    reader.wait(60)
    sleeper.wait(60)
    expect(ended).toEqual([])
    clock.advance(900)
    reader.take(1)
    clock.advance(400)
    expect(ended).toEqual(['sleeper'])
  })

  test('are forgotten with the last watch of a connection and of a user', () => {
    const { aWatch, unread } = someWatches()
    const watch = aWatch('one', { connection: {}, user: 'a' })
    for (let round = 0; round < 5; round++) {
      watch.wait(connectionMax)
      watch.take(connectionMax)
    }
    expect([unread.total, watch.unreadBytes]).toEqual([0, 0])
  })
})
