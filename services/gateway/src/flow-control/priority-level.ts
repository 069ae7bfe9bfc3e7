import { createHash } from 'node:crypto'
import type { User } from '@orch/core/contracts'
import type { Clock } from '@orch/platform'
import { limits } from '../limits.ts'
import type { RequestInfo } from '../request/request-info.ts'
import type { PriorityLevel, WhenFull } from './configuration.ts'

/** Why a request was not taken, in the words of the metric. */
export type RejectReason = 'concurrency-limit' | 'queue-full' | 'time-out' | 'cancelled'

/** A request that wants to be worked on. */
export interface Wish {
  /** Schema and distinguisher: requests with both in common share a turn. */
  readonly flow: string
  /** Number of its seats. */
  readonly width: number
  /** For the debug endpoints, which list waiting requests. */
  readonly asked?: Asked
  /** The series for the use of its seat; absent for none. */
  readonly series?: SeatSeries
  /** Called when its seat is released. */
  readonly onEnd?: (() => void) | undefined
}

/** The counts of the seats of one schema. */
export interface SeatSeries {
  /** A request with so many seats begins to execute. */
  begun(seats: number): void
  ended(seconds: number, seats: number, kind: 'regular' | 'watch'): void
}

/** The shown facts of a waiting request. */
interface Asked {
  readonly user: User
  readonly info: RequestInfo
  readonly path: string
  /** It may last: a watch, or a tunnel. */
  readonly isLongRunning: boolean
}

/** Observes the use of a level; called after each change. */
export type LevelMeter = (level: Level) => void

/** The result of asking for a seat. */
export type Reception =
  | { readonly kind: 'seated'; readonly seat: Seat }
  | { readonly kind: 'queued'; readonly waiting: Waiting; readonly queueLength: number }
  | { readonly kind: 'rejected'; readonly reason: RejectReason }

interface Queue {
  readonly waiting: Waiting[]
  /** Its requests that are being worked on. */
  executing: number
  /** Seats of its requests that are being worked on. */
  seatsInUse: number
  /** The start of its next request on the level's meter. */
  nextStart: number
  /** The level's turn in which it was last served; of two equal queues the one that has waited longer is next. */
  lastTurn: number
  /** Its place in the deck. */
  readonly card: number
  /** It has been replaced: its executing requests no longer count for turns. */
  isRetired: boolean
}

/** Hands that are remembered: as many flows as a busy server sees at a time. */
const handsMax = 10_000
/** Empty queues that are kept, so that returning flows find their meter; a level may have ten million. */
const idleQueuesMax = 4_096
/** Assumed duration of a request until it is known, in seconds. An excess is given back. */
const guessSeconds = 60

/**
 * One priority level: seats, and queues of requests that wait for one. The waiting queue that has been served least is next,
 * measured in seconds of seats on a meter that all queues share (fair queuing by virtual time).
 */
export class Level {
  readonly name: string
  uid = ''
  isExempt = false
  seatsMax = 0
  seatsInUse = 0
  waitingCount = 0
  executing = 0
  /** The counts of requests since the level exists. */
  readonly counts = { dispatched: 0, rejected: 0, 'time-out': 0, cancelled: 0 }
  #configuration: PriorityLevel | undefined
  #whenFull: WhenFull = { kind: 'reject' }
  /** The queues that were needed, by their places in the deck. */
  #queues = new Map<number, Queue>()
  /** The queues with waiting requests. */
  readonly #waitingQueues = new Set<Queue>()
  #hands = new Map<string, readonly number[]>()
  #turns = 0
  #activeQueues = 0
  #waitingSeats = 0
  #meter = 0
  #meterMs = 0
  readonly #clock: Clock
  readonly #use: LevelMeter | undefined

  constructor(name: string, clock: Clock, use?: LevelMeter) {
    this.name = name
    this.#clock = clock
    this.#use = use
    this.#meterMs = clock.monotonic()
  }

  /** The meter's value: seconds for which a queue that was never empty would have been served. */
  get meter(): number {
    this.#advance()
    return this.#meter
  }

  /** Largest number of waiting requests. */
  get waitingMax(): number {
    return this.#whenFull.kind === 'reject' ? 0 : this.#whenFull.queues * this.#whenFull.queueLengthMax
  }

  /** The queues that were needed, with their contents. */
  queues(): Iterable<{
    readonly card: number
    readonly waiting: readonly Waiting[]
    readonly executing: number
    readonly seatsInUse: number
    readonly nextStart: number
  }> {
    return this.#queues.values()
  }

  /** The assumed work of so many seats, in seconds. */
  workOf(seats: number): number {
    return seats * guessSeconds
  }

  /** Applies its object. Waiting requests are dealt anew when the queues change. */
  configure(configuration: PriorityLevel, seatsMax: number): void {
    if (configuration === this.#configuration && seatsMax === this.seatsMax) return
    this.#configuration = configuration
    const { uid, kind } = configuration
    this.uid = uid
    this.isExempt = kind.kind === 'exempt'
    this.seatsMax = seatsMax
    const whenFull: WhenFull = kind.kind === 'exempt' ? { kind: 'reject' } : kind.whenFull
    if (JSON.stringify(whenFull) !== JSON.stringify(this.#whenFull)) this.#requeue(whenFull)
    this.#dispatch()
    this.#measure()
  }

  receive(wish: Wish): Reception {
    const reception = this.#receive(wish)
    if (reception.kind === 'rejected') this.counts.rejected += 1
    else this.#measure()
    return reception
  }

  /** A level without seats of its own has no share that is used. */
  #measure(): void {
    if (!this.isExempt) this.#use?.(this)
  }

  #receive(wish: Wish): Reception {
    const { flow, width } = wish
    if (this.isExempt) return { kind: 'seated', seat: this.#seat(undefined, 0, wish) }
    const seats = Math.min(width, this.seatsMax)
    const queue = this.#queueFor(flow)
    if (this.waitingCount === 0 && this.seatsInUse + seats <= this.seatsMax) return { kind: 'seated', seat: this.#seat(queue, seats, wish) }
    if (queue === undefined || this.#whenFull.kind === 'reject') return { kind: 'rejected', reason: 'concurrency-limit' }
    if (queue.waiting.length >= this.#whenFull.queueLengthMax) return { kind: 'rejected', reason: 'queue-full' }
    return { kind: 'queued', waiting: this.#enqueue(queue, seats, wish), queueLength: queue.waiting.length }
  }

  /** Gives seats back; called by the seat. */
  release({ queue, seats, startedMs, wish: { width, asked, series, onEnd } }: Taken): void {
    const seconds = (this.#clock.monotonic() - startedMs) / 1000
    series?.ended(seconds, width, asked?.isLongRunning === true ? 'watch' : 'regular')
    onEnd?.()
    this.executing -= 1
    if (this.isExempt && queue === undefined && seats === 0) return
    this.#advance()
    this.seatsInUse -= seats
    if (queue !== undefined && !queue.isRetired) {
      queue.seatsInUse -= seats
      queue.executing -= 1
      // It was charged for the guess; now the time it took is known.
      queue.nextStart -= seats * (guessSeconds - seconds)
      this.#rest(queue)
    }
    this.#dispatch()
    this.#measure()
  }

  /** Removes a request that no longer waits from its queue. */
  forget(waiting: Waiting, reason: 'time-out' | 'cancelled'): void {
    const { queue } = waiting
    const at = queue.waiting.indexOf(waiting)
    if (at < 0) return
    this.counts[reason] += 1
    this.#advance()
    queue.waiting.splice(at, 1)
    this.waitingCount -= 1
    this.#waitingSeats -= waiting.seats
    if (queue.waiting.length === 0) this.#waitingQueues.delete(queue)
    this.#rest(queue)
    this.#dispatch()
    this.#measure()
  }

  #seat(queue: Queue | undefined, seats: number, wish: Wish): Seat {
    this.executing += 1
    this.counts.dispatched += 1
    this.seatsInUse += seats
    if (queue !== undefined) {
      this.#advance()
      if (queue.seatsInUse === 0 && queue.waiting.length === 0) this.#activate(queue)
      this.#startIn(queue, seats)
    }
    return new Seat(this, { queue, seats, startedMs: this.#clock.monotonic(), wish })
  }

  #enqueue(queue: Queue, seats: number, wish: Wish): Waiting {
    this.#advance()
    if (queue.seatsInUse === 0 && queue.waiting.length === 0) this.#activate(queue)
    const waiting = new Waiting(this, { queue, seats, wish, arrivedMs: this.#clock.now() })
    queue.waiting.push(waiting)
    this.#waitingQueues.add(queue)
    this.waitingCount += 1
    this.#waitingSeats += seats
    return waiting
  }

  #startIn(queue: Queue, seats: number): void {
    this.#turns += 1
    queue.lastTurn = this.#turns
    queue.seatsInUse += seats
    queue.executing += 1
    queue.nextStart += seats * guessSeconds
  }

  /** A queue that had nothing to do has saved nothing up. */
  #activate(queue: Queue): void {
    this.#activeQueues += 1
    queue.nextStart = Math.max(queue.nextStart, this.#meter)
  }

  /** A queue that may have nothing to do any more. What it was served too much is remembered while there is room. */
  #rest(queue: Queue): void {
    if (queue.seatsInUse > 0 || queue.waiting.length > 0) return
    this.#activeQueues -= 1
    if (this.#queues.size > idleQueuesMax) this.#queues.delete(queue.card)
  }

  /** Finds the shortest queue of the hand that a flow was dealt. */
  #queueFor(flow: string): Queue | undefined {
    if (this.#whenFull.kind === 'reject') return undefined
    let hand = this.#hands.get(flow)
    if (hand === undefined) {
      hand = dealHand(flow, this.#whenFull)
      if (this.#hands.size >= handsMax) this.#hands.clear()
      if (flow.length <= limits.flowKeyLengthMax) this.#hands.set(flow, hand)
    }
    let best = hand[0] ?? 0
    for (const card of hand) if (burden(this.#queues.get(card)) < burden(this.#queues.get(best))) best = card
    return this.#queueAt(best)
  }

  #queueAt(card: number): Queue {
    let queue = this.#queues.get(card)
    if (queue === undefined) {
      queue = { card, waiting: [], executing: 0, seatsInUse: 0, nextStart: 0, lastTurn: 0, isRetired: false }
      this.#queues.set(card, queue)
    }
    return queue
  }

  /** Starts waiting requests while there are seats. If the next one needs more seats than are free, all wait. */
  #dispatch(): void {
    while (this.waitingCount > 0) {
      const queue = this.#nextQueue()
      const first = queue?.waiting[0]
      if (queue === undefined || first === undefined) return
      const seats = Math.min(first.seats, this.seatsMax)
      if (!this.isExempt && this.seatsInUse + seats > this.seatsMax && this.seatsInUse > 0) return
      this.#advance()
      queue.waiting.shift()
      if (queue.waiting.length === 0) this.#waitingQueues.delete(queue)
      this.waitingCount -= 1
      this.#waitingSeats -= first.seats
      this.executing += 1
      this.counts.dispatched += 1
      this.seatsInUse += seats
      this.#startIn(queue, seats)
      first.resolve(new Seat(this, { queue, seats, startedMs: this.#clock.monotonic(), wish: first.wish }))
    }
  }

  /** The queue whose first request would be done first. */
  #nextQueue(): Queue | undefined {
    let best: Queue | undefined
    let bestEnd = Number.POSITIVE_INFINITY
    for (const queue of this.#waitingQueues) {
      const first = queue.waiting[0]
      if (first === undefined) continue
      const end = queue.nextStart + first.seats * guessSeconds
      if (end > bestEnd || (end === bestEnd && best !== undefined && queue.lastTurn >= best.lastTurn)) continue
      best = queue
      bestEnd = end
    }
    return best
  }

  #advance(): void {
    const nowMs = this.#clock.monotonic()
    if (this.#activeQueues > 0) {
      const wanted = Math.min(this.seatsInUse + this.#waitingSeats, this.seatsMax)
      this.#meter += ((nowMs - this.#meterMs) / 1000) * (wanted / this.#activeQueues)
    }
    this.#meterMs = nowMs
  }

  #requeue(whenFull: WhenFull): void {
    const waited = [...this.#waitingQueues].flatMap((queue) => queue.waiting.splice(0))
    for (const queue of this.#queues.values()) queue.isRetired = true
    this.#whenFull = whenFull
    this.#hands.clear()
    this.#queues = new Map()
    this.#waitingQueues.clear()
    this.#activeQueues = 0
    this.waitingCount = 0
    this.#waitingSeats = 0
    for (const waiting of waited) {
      const queue = this.#queueFor(waiting.wish.flow)
      // Without queues there is nothing to wait in: they are seated rather than lost.
      if (queue === undefined) waiting.resolve(this.#seat(undefined, waiting.seats, waiting.wish))
      else {
        if (queue.waiting.length === 0) this.#activate(queue)
        waiting.queue = queue
        queue.waiting.push(waiting)
        this.#waitingQueues.add(queue)
        this.waitingCount += 1
        this.#waitingSeats += waiting.seats
      }
    }
  }
}

/** The work in a queue; one that was never needed has none. */
function burden(queue: Queue | undefined): number {
  return queue === undefined ? 0 : queue.waiting.length + queue.seatsInUse
}

/** The seats of an executing request. */
interface Taken {
  /** undefined: the level has none. */
  readonly queue: Queue | undefined
  readonly seats: number
  /** On the monotonic clock. */
  readonly startedMs: number
  readonly wish: Wish
}

/** A place at which a request is worked on, until it is released. */
export class Seat {
  #level: Level | undefined
  readonly #taken: Taken

  constructor(level: Level, taken: Taken) {
    this.#level = level
    this.#taken = taken
    const { series, width } = taken.wish
    series?.begun(width)
  }

  release(): void {
    const level = this.#level
    this.#level = undefined
    level?.release(this.#taken)
  }
}

/** A request in a queue. */
interface Queued {
  readonly queue: Queue
  readonly seats: number
  readonly wish: Wish
  /** In milliseconds of the wall clock. */
  readonly arrivedMs: number
}

/** A request that waits. */
export class Waiting {
  readonly #level: Level
  queue: Queue
  readonly seats: number
  readonly wish: Wish
  readonly arrivedMs: number
  /** A seat, or why there will be none. */
  readonly seated: Promise<Seat | RejectReason>
  #settle!: (outcome: Seat | RejectReason) => void

  constructor(level: Level, { queue, seats, wish, arrivedMs }: Queued) {
    this.#level = level
    this.queue = queue
    this.seats = seats
    this.wish = wish
    this.arrivedMs = arrivedMs
    this.seated = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  resolve(seat: Seat): void {
    this.#settle(seat)
  }

  /** Waits no longer. Does nothing for one that has a seat. */
  giveUp(reason: 'time-out' | 'cancelled'): void {
    this.#level.forget(this, reason)
    this.#settle(reason)
  }
}

/**
 * Deals a flow a hand of queues: always the same for the same flow, and seldom quite that of another one, so that one that floods
 * its queues leaves the others at least one that is free.
 *
 *   8 queues, hands of 3:   deal('jane') → [6, 0, 3]      deal('batch') → [2, 6, 7]
 */
export function dealHand(flow: string, { queues, handSize }: { readonly queues: number; readonly handSize: number }): number[] {
  let entropy = createHash('sha256').update(flow).digest().readBigUInt64LE()
  const hand: number[] = []
  for (let dealt = 0; dealt < handSize; dealt += 1) {
    const left = BigInt(queues - dealt)
    let card = Number(entropy % left)
    entropy /= left
    // The card counts among those that are still in the deck: it moves up past each lower one that was dealt.
    for (const taken of [...hand].sort((a, b) => a - b)) if (card >= taken) card += 1
    hand.push(card)
  }
  return hand
}
