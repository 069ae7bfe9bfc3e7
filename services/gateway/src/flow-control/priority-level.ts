import { createHash } from 'node:crypto'
import type { User } from '@orch/core/contracts'
import type { Clock } from '@orch/platform'
import { limits } from '../limits.ts'
import type { RequestInfo } from '../request/request-info.ts'
import type { PriorityLevel, WhenFull } from './configuration.ts'

/** The reason of a rejection, in the words of the metric. */
export type RejectReason = 'concurrency-limit' | 'queue-full' | 'time-out' | 'cancelled'

/** A request for a seat. */
export interface Wish {
  /** Schema and distinguisher: requests with equal values share a turn. */
  readonly flow: string
  /** Number of its seats. */
  readonly width: number
  /** For the debug endpoints, which list waiting requests. */
  readonly asked?: Asked
  /** The series for the use of its seat; undefined for none. */
  readonly series?: SeatSeries
  /** Called when its seat is released. */
  readonly onEnd?: (() => void) | undefined
}

/** The counts of the seats of one schema. */
export interface SeatSeries {
  /** A request with this number of seats starts to execute. */
  begun(seats: number): void
  ended(seconds: number, seats: number, kind: 'regular' | 'watch'): void
}

/** The listed facts of a waiting request. */
interface Asked {
  readonly user: User
  readonly info: RequestInfo
  readonly path: string
  /** True for a watch or a tunnel, which may last. */
  readonly isLongRunning: boolean
}

/** Observes the use of a level; called after each change. */
export type LevelMeter = (level: Level) => void

/** The result of a request for a seat. */
export type Reception =
  | { readonly kind: 'seated'; readonly seat: Seat }
  | { readonly kind: 'queued'; readonly waiting: Waiting; readonly queueLength: number }
  | { readonly kind: 'rejected'; readonly reason: RejectReason }

interface Queue {
  readonly waiting: Waiting[]
  /** Its executing requests. */
  executing: number
  /** Seats of its executing requests. */
  seatsInUse: number
  /** The start of its next request on the level's meter. */
  nextStart: number
  /** The level's sequence number when it was last served; among equal queues the one that has waited longer is next. */
  lastTurn: number
  /** Its place in the deck. */
  readonly card: number
  /** True if it was replaced: its executing requests no longer count. */
  isRetired: boolean
}

/** Maximum number of cached hands: about the number of flows of a busy server. */
const handsMax = 10_000
/** Maximum number of cached empty queues, so that returning flows find their meter; a level may have ten million. */
const idleQueuesMax = 4_096
/** Assumed duration of a request until it is known, in seconds. An excess is refunded. */
const guessSeconds = 60

/**
 * One priority level: seats, and queues of requests that wait for them. The waiting queue that was served least is next, measured in seat-seconds on a
 * meter that all queues share (fair queuing by virtual time).
 */
export class Level {
  readonly name: string
  uid = ''
  isExempt = false
  seatsMax = 0
  seatsInUse = 0
  waitingCount = 0
  executing = 0
  /** The counts of requests since the creation of the level. */
  readonly counts = { dispatched: 0, rejected: 0, 'time-out': 0, cancelled: 0 }
  #configuration: PriorityLevel | undefined
  #whenFull: WhenFull = { kind: 'reject' }
  /** The queues in use, by index in the deck. */
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

  /** The meter's value: seat-seconds that an always busy queue would have been served. */
  get meter(): number {
    this.#advance()
    return this.#meter
  }

  /** Maximum number of waiting requests. */
  get waitingMax(): number {
    return this.#whenFull.kind === 'reject' ? 0 : this.#whenFull.queues * this.#whenFull.queueLengthMax
  }

  /** The queues in use, with their contents. */
  queues(): Iterable<{
    readonly card: number
    readonly waiting: readonly Waiting[]
    readonly executing: number
    readonly seatsInUse: number
    readonly nextStart: number
  }> {
    return this.#queues.values()
  }

  /** The assumed work of a number of seats, in seconds. */
  workOf(seats: number): number {
    return seats * guessSeconds
  }

  /** Applies its object. Waiting requests are dealt again when the queues change. */
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

  /** A level without its own seats has no share to measure. */
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
    const waiting = new Waiting(this, { queue, seats, wish, arrivedMs: this.#clock.now() })
    this.#enqueue(queue, waiting)
    return { kind: 'queued', waiting, queueLength: queue.waiting.length }
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
      // It was charged for the estimate; now its duration is known.
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
    this.#advance()
    this.executing += 1
    this.counts.dispatched += 1
    this.seatsInUse += seats
    if (queue !== undefined) {
      if (queue.seatsInUse === 0 && queue.waiting.length === 0) this.#activate(queue)
      this.#turns += 1
      queue.lastTurn = this.#turns
      queue.seatsInUse += seats
      queue.executing += 1
      queue.nextStart += seats * guessSeconds
    }
    return new Seat(this, { queue, seats, startedMs: this.#clock.monotonic(), wish })
  }

  #enqueue(queue: Queue, waiting: Waiting): void {
    this.#advance()
    if (queue.seatsInUse === 0 && queue.waiting.length === 0) this.#activate(queue)
    waiting.queue = queue
    queue.waiting.push(waiting)
    this.#waitingQueues.add(queue)
    this.waitingCount += 1
    this.#waitingSeats += waiting.seats
  }

  /** An idle queue does not accumulate credit. */
  #activate(queue: Queue): void {
    this.#activeQueues += 1
    queue.nextStart = Math.max(queue.nextStart, this.#meter)
  }

  /** Handles a possibly idle queue. Its debt is remembered while there is space. */
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

  /** Starts waiting requests while seats are free. If the next one needs more seats than are free, all wait. */
  #dispatch(): void {
    while (this.waitingCount > 0) {
      const queue = this.#nextQueue()
      const first = queue?.waiting[0]
      if (queue === undefined || first === undefined) return
      const seats = Math.min(first.seats, this.seatsMax)
      if (!this.isExempt && this.seatsInUse + seats > this.seatsMax && this.seatsInUse > 0) return
      const seat = this.#seat(queue, seats, first.wish)
      queue.waiting.shift()
      if (queue.waiting.length === 0) this.#waitingQueues.delete(queue)
      this.waitingCount -= 1
      this.#waitingSeats -= first.seats
      first.resolve(seat)
    }
  }

  /** The queue whose first request would finish first. */
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
      // Without queues waiting requests are seated rather than lost.
      if (queue === undefined) waiting.resolve(this.#seat(undefined, waiting.seats, waiting.wish))
      else this.#enqueue(queue, waiting)
    }
  }
}

/** The work in a queue; an unused queue has none. */
function burden(queue: Queue | undefined): number {
  return queue === undefined ? 0 : queue.waiting.length + queue.seatsInUse
}

/** The seats of an executing request. */
interface Taken {
  /** Undefined if the level has none. */
  readonly queue: Queue | undefined
  readonly seats: number
  /** On the monotonic clock. */
  readonly startedMs: number
  readonly wish: Wish
}

/** A seat on which a request executes, until it is released. */
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
  /** A seat, or the reason of a rejection. */
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

  /** Stops waiting. Does nothing with a seat. */
  giveUp(reason: 'time-out' | 'cancelled'): void {
    this.#level.forget(this, reason)
    this.#settle(reason)
  }
}

/**
 * Deals a flow a hand of queues: always the same for the same flow, and rarely equal to that of another flow, so that a flow that floods its queues
 * leaves the others at least one free queue.
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
    // The index counts the remaining cards: it moves up past each lower dealt card.
    for (const taken of [...hand].sort((a, b) => a - b)) if (card >= taken) card += 1
    hand.push(card)
  }
  return hand
}
