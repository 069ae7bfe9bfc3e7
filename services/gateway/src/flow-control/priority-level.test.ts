import { createFakeClock } from '@orch/testkit'
import { describe, expect, test } from 'vitest'
import type { PriorityLevel } from './configuration.ts'
import { dealHand, Level, type Reception, Seat } from './priority-level.ts'

function queueing({ queues = 8, handSize = 1, queueLengthMax = 10 } = {}): PriorityLevel {
  return { name: 'l', uid: 'u', kind: { kind: 'limited', shares: 1, whenFull: { kind: 'queue', queues, handSize, queueLengthMax } } }
}

const rejecting: PriorityLevel = { name: 'l', uid: 'u', kind: { kind: 'limited', shares: 1, whenFull: { kind: 'reject' } } }

function aLevel(configuration: PriorityLevel, seatsMax: number) {
  const clock = createFakeClock()
  const level = new Level('l', clock)
  level.configure(configuration, seatsMax)
  return { clock, level }
}

function seated(reception: Reception): Seat {
  if (reception.kind !== 'seated') throw new Error(`expected a seat: ${reception.kind}`)
  return reception.seat
}

/** Names of the seated requests, in order. */
function follow(order: string[], name: string, reception: Reception): void {
  if (reception.kind === 'seated') order.push(name)
  if (reception.kind === 'queued') void reception.waiting.seated.then((outcome) => outcome instanceof Seat && order.push(name))
}

describe('seats', () => {
  test('LIM-11: refuse one request too many without queues, until a seat is released', () => {
    const { level } = aLevel(rejecting, 2)
    const first = seated(level.receive({ flow: 'a', width: 1 }))
    seated(level.receive({ flow: 'a', width: 1 }))
    expect(level.receive({ flow: 'a', width: 1 })).toEqual({ kind: 'rejected', reason: 'concurrency-limit' })
    first.release()
    first.release()
    expect([level.receive({ flow: 'a', width: 1 }).kind, level.seatsInUse]).toEqual(['seated', 2])
  })

  test('LIM-11: an exempt level has no bound', () => {
    const { level } = aLevel({ name: 'l', uid: 'u', kind: { kind: 'exempt' } }, 0)
    const seats = Array.from({ length: 1000 }, () => seated(level.receive({ flow: 'a', width: 1 })))
    expect([level.executing, level.seatsInUse]).toEqual([1000, 0])
    for (const seat of seats) seat.release()
    expect(level.executing).toBe(0)
  })

  test('LIM-11: are taken by a request according to its width, and at most all seats of the level', () => {
    const { level } = aLevel(queueing(), 4)
    const wide = seated(level.receive({ flow: 'a', width: 10 }))
    expect([level.seatsInUse, level.receive({ flow: 'b', width: 1 }).kind]).toEqual([4, 'queued'])
    wide.release()
    expect([level.seatsInUse, level.waitingCount]).toEqual([1, 0])
  })

  test('are counted when a request takes them, at once or after waiting, and once when it releases them', () => {
    const { level, clock } = aLevel(queueing(), 1)
    const counted: unknown[] = []
    const series = { begun: (seats: number) => counted.push(['begun', seats]), ended: (...end: unknown[]) => counted.push(end) }
    const asked = {
      user: { name: 'u', uid: '', groups: [], extra: {} },
      info: { kind: 'path', verb: 'get', path: '/' },
      path: '/',
    } as const
    const first = seated(level.receive({ flow: 'a', width: 3, series, onEnd: () => counted.push('over') }))
    const second = level.receive({ flow: 'b', width: 1, series, asked: { ...asked, isLongRunning: true } })
    expect([second.kind, counted]).toEqual(['queued', [['begun', 3]]])
    clock.advance(2_000)
    first.release()
    first.release()
    expect(counted).toEqual([['begun', 3], [2, 3, 'regular'], 'over', ['begun', 1]])
    if (second.kind !== 'queued') throw new Error('expected to wait')
    return second.waiting.seated.then((seat) => {
      if (seat instanceof Seat) seat.release()
      expect(counted.slice(4)).toEqual([[0, 1, 'watch']])
    })
  })
})

describe('queues', () => {
  test('LIM-11: a queue that is full refuses', () => {
    const { level } = aLevel(queueing({ queueLengthMax: 2 }), 1)
    const kinds = Array.from({ length: 4 }, () => level.receive({ flow: 'a', width: 1 }))
    expect(kinds.map(({ kind }) => kind)).toEqual(['seated', 'queued', 'queued', 'rejected'])
    expect(kinds[3]).toEqual({ kind: 'rejected', reason: 'queue-full' })
  })

  test('LIM-11: serve a rare flow before a flow with many requests', async () => {
    const { level, clock } = aLevel(queueing({ queues: 64 }), 1)
    const order: string[] = []
    const holder = seated(level.receive({ flow: 'loud', width: 1 }))
    for (let index = 0; index < 5; index += 1) follow(order, `loud${index}`, level.receive({ flow: 'loud', width: 1 }))
    clock.advance(1_000)
    follow(order, 'quiet', level.receive({ flow: 'quiet', width: 1 }))
    holder.release()
    await Promise.resolve()
    expect(order[0]).toBe('quiet')
  })

  /** Names in seating order; each holds its seat for its duration, and then releases it. */
  async function serve(level: Level, clock: ReturnType<typeof createFakeClock>, flows: Record<string, number>, dispatches: number) {
    const order: string[] = []
    const seats: { readonly seat: Seat; readonly seconds: number }[] = []
    const holder = seated(level.receive({ flow: 'holder', width: 1 }))
    for (let round = 0; round < dispatches; round += 1) {
      for (const [flow, seconds] of Object.entries(flows)) {
        const reception = level.receive({ flow, width: 1 })
        if (reception.kind !== 'queued') throw new Error(`expected to wait: ${reception.kind}`)
        void reception.waiting.seated.then((outcome) => {
          if (!(outcome instanceof Seat)) return
          order.push(flow)
          seats.push({ seat: outcome, seconds })
        })
      }
    }
    holder.release()
    while (order.length < dispatches) {
      await Promise.resolve()
      const served = seats.shift()
      if (served === undefined) continue
      clock.advance(served.seconds * 1_000)
      served.seat.release()
    }
    return order
  }

  test('LIM-11: a queue has no credit for idle time', async () => {
    const { level, clock } = aLevel(queueing({ queues: 512, queueLengthMax: 100 }), 1)
    const busy = seated(level.receive({ flow: 'busy', width: 1 }))
    clock.advance(10_000_000)
    busy.release()
    const order = await serve(level, clock, { busy: 60, idle: 60 }, 8)
    expect(order.filter((flow) => flow === 'busy')).toHaveLength(4)
  })

  test('LIM-11: charge a flow for the time that its requests have taken', async () => {
    const { level, clock } = aLevel(queueing({ queues: 512, queueLengthMax: 100 }), 1)
    const order = await serve(level, clock, { long: 100, short: 1 }, 12)
    expect(order.filter((flow) => flow === 'long').length).toBeLessThanOrEqual(2)
  })

  test('LIM-11: drop a request that no longer waits', async () => {
    const { level } = aLevel(queueing(), 1)
    const holder = seated(level.receive({ flow: 'a', width: 1 }))
    const first = level.receive({ flow: 'a', width: 1 })
    const second = level.receive({ flow: 'a', width: 1 })
    if (first.kind !== 'queued' || second.kind !== 'queued') throw new Error('both wait')
    first.waiting.giveUp('time-out')
    expect(await first.waiting.seated).toBe('time-out')
    holder.release()
    expect(await second.waiting.seated).toBeInstanceOf(Seat)
    second.waiting.giveUp('cancelled')
    expect([level.seatsInUse, level.waitingCount]).toEqual([1, 0])
  })

  test('LIM-11: keep waiting requests when the queues change, and seat them when the queues are removed', async () => {
    const { level } = aLevel(queueing(), 1)
    const holder = seated(level.receive({ flow: 'a', width: 1 }))
    const waits = [level.receive({ flow: 'a', width: 1 }), level.receive({ flow: 'b', width: 1 })]
    level.configure(queueing({ queues: 2 }), 1)
    expect(level.waitingCount).toBe(2)
    level.configure(rejecting, 1)
    for (const wait of waits) if (wait.kind === 'queued') expect(await wait.waiting.seated).toBeInstanceOf(Seat)
    holder.release()
    expect([level.waitingCount, level.seatsInUse]).toEqual([0, 2])
  })

  test('LIM-11: the maximum number of queues costs nothing until they are needed', async () => {
    const before = process.memoryUsage().heapUsed
    const { level } = aLevel(queueing({ queues: 10_000_000, handSize: 2 }), 1)
    const order: string[] = []
    const holder = seated(level.receive({ flow: 'a', width: 1 }))
    for (const flow of ['b', 'c', 'd']) follow(order, flow, level.receive({ flow, width: 1 }))
    holder.release()
    await Promise.resolve()
    expect([order, level.waitingCount]).toEqual([['b'], 2])
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 1024 * 1024)
  })

  test('LIM-11: new seats admit waiting requests at once', () => {
    const { level } = aLevel(queueing(), 1)
    for (let index = 0; index < 4; index += 1) level.receive({ flow: `f${index}`, width: 1 })
    expect(level.executing).toBe(1)
    level.configure(queueing(), 3)
    expect([level.executing, level.waitingCount]).toEqual([3, 1])
  })
})

describe('hands', () => {
  test('LIM-11: the same flow is dealt the same hand, without a card twice', () => {
    const size = { queues: 16, handSize: 6 }
    for (let index = 0; index < 200; index += 1) {
      const hand = dealHand(`flow ${index}`, size)
      expect(new Set(hand).size).toBe(6)
      expect(hand.every((card) => card >= 0 && card < 16)).toBe(true)
      expect(dealHand(`flow ${index}`, size)).toEqual(hand)
    }
  })

  test('LIM-11: every queue is dealt about as often as any other', () => {
    const counts = Array.from({ length: 8 }, () => 0)
    for (let index = 0; index < 4_000; index += 1) {
      for (const card of dealHand(`flow ${index}`, { queues: 8, handSize: 2 })) counts[card] = (counts[card] ?? 0) + 1
    }
    expect(Math.min(...counts)).toBeGreaterThan(800)
    expect(Math.max(...counts)).toBeLessThan(1_200)
  })
})
