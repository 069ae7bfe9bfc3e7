import { durationToMs, parseDuration } from '@orch/core/meta'
import { Activity } from './activity.ts'
import { type Clock, systemClock, type Timer, type TimerOptions, type TimerSeries } from './clock.ts'
import { type QueuedTimer, TimerQueue } from './timer-queue.ts'

export interface VirtualClockOptions {
  /** The initial time. Default: the machine's time, rounded down to the second. */
  readonly start?: Date | 'now'
  /** True if the clock advances by itself to the next timer whenever the server is idle. It stops when only background timers remain. */
  readonly auto?: boolean
}

interface PendingTimer {
  readonly at: Date
  /** True if the timer belongs to endless work, such as a resync. */
  readonly background: boolean
}

/**
 * A clock that a test moves. A move settles after each timer: the earliest due timer is called at its time, and the next one only when no
 * request is in flight, no watch is behind and no queue is busy. A repeating timer does not fire for every interval: while only repeating
 * timers are due, each fires once at its own time, and once more with the next other timer or at the end of the move.
 *
 *   const clock = virtualClock()
 *   const server = await start({ clock })
 *   await clock.advance('1h')    // all timers of an hour have been called
 */
export interface VirtualClock extends Clock {
  readonly work: Activity
  readonly isVirtual: true
  /** Advances by a duration, such as `40s` or `1h30m`, or by milliseconds. */
  advance(by: string | number): Promise<void>
  /** Advances to a time that has not passed. */
  advanceTo(time: Date | string): Promise<void>
  /** Advances to the earliest timer that is not a background timer. False if there is none; then the clock stays. */
  next(): Promise<boolean>
  /** All pending timers, earliest first. */
  pending(): readonly PendingTimer[]
}

/** Maximum real time for a step to settle. */
const stepMsMax = 60_000
/** Real time without progress after which pending work counts as waiting for the clock, like a pause between attempts. */
const stillMsMax = 1_000

/** The last time of a virtual clock: certificates of its servers are valid from 1970 to then. */
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59)

/** The name of automatic moves. */
const automatic = 'automatic clock'

/** A clock that a test moves, for `start({ clock })`. Servers and clocks that share it advance together. */
export function virtualClock(options: VirtualClockOptions = {}): VirtualClock {
  return new SettlingClock(options)
}

class SettlingClock implements VirtualClock {
  readonly isVirtual = true
  readonly work = new Activity()
  readonly #queue = new TimerQueue()
  /** Repeating timers that have fired since the last other timer. They do not stop the clock again until then or until the end of the move. */
  readonly #resting = new TimerQueue()
  /** True while a repeating timer is being called. */
  #isRepeating = false
  readonly #startMs: number
  readonly #isAuto: boolean
  #elapsedMs = 0
  /** The last requested move; moves run one after the other. */
  #moving: Promise<unknown> = Promise.resolve()
  #isRunning = false

  constructor({ start = 'now', auto = false }: VirtualClockOptions) {
    this.#startMs = start === 'now' ? Math.floor(systemClock.now() / 1_000) * 1_000 : start.getTime()
    if (Number.isNaN(this.#startMs)) throw new RangeError('virtualClock(): start is not a valid date')
    if (this.#startMs < 0 || this.#startMs > lastMs) throw new RangeError('virtualClock(): start must be a time from 1970 to 9999')
    this.#isAuto = auto
    if (auto) this.work.follow(automatic, () => this.#isRunning)
  }

  now = (): number => this.#startMs + this.#elapsedMs

  monotonic = (): number => this.#elapsedMs

  after = (delayMs: number, callback: () => void, options: TimerOptions = {}): Timer => {
    const { repeats = false, series, watches, background = watches !== undefined } = options
    const dueMs = this.#elapsedMs + Math.max(0, delayMs)
    if (repeats) return this.#repeat({ dueMs, series, callback })
    const timer = this.#queue.add({ dueMs, background, watches, callback })
    if (this.#isAuto && !background) this.#run()
    return timer
  }

  every = (intervalMs: number, callback: () => void): Timer => {
    let dueMs = this.#elapsedMs + intervalMs
    const ring = () => {
      dueMs += Math.max(1, Math.ceil((this.#elapsedMs + 1 - dueMs) / intervalMs)) * intervalMs
      timer = this.#repeat({ dueMs, callback: ring })
      callback()
    }
    let timer = this.#repeat({ dueMs, callback: ring })
    return { cancel: () => timer.cancel() }
  }

  async advance(by: string | number): Promise<void> {
    const byMs = toMs('advance', by)
    await this.#move(() => this.#moveTo(this.#elapsedMs + byMs))
  }

  async advanceTo(time: Date | string): Promise<void> {
    const toTimeMs = new Date(time).getTime()
    if (Number.isNaN(toTimeMs)) throw new RangeError(`advanceTo(): ${String(time)} is not a valid date`)
    if (toTimeMs < this.now()) throw new RangeError(`advanceTo(): ${new Date(time).toISOString()} has passed: time does not go back`)
    await this.#move(() => this.#moveTo(toTimeMs - this.#startMs))
  }

  next(): Promise<boolean> {
    return this.#move(async () => {
      await this.#settle()
      const first = this.#queue.list().find(({ background }) => !background)
      if (first === undefined) return false
      await this.#moveTo(first.dueMs)
      return true
    })
  }

  pending(): readonly PendingTimer[] {
    const timers = [...this.#queue.list(), ...this.#resting.list()].sort((one, other) => one.dueMs - other.dueMs)
    return timers.map(({ dueMs, background }) => ({ at: new Date(this.#startMs + dueMs), background }))
  }

  #repeat({ dueMs, series, callback }: Pick<QueuedTimer, 'dueMs' | 'series' | 'callback'>): Timer {
    let timer: Timer
    const ring = () => {
      this.#isRepeating = true
      try {
        callback()
      } finally {
        this.#isRepeating = false
      }
    }
    const queue = (timers: TimerQueue): Timer => timers.add({ dueMs, background: true, series, callback: ring, wake })
    const wake = () => {
      timer.cancel()
      timer = queue(this.#queue)
    }
    timer = queue(this.#isRepeating ? this.#resting : this.#queue)
    return { cancel: () => timer.cancel() }
  }

  #move<T>(move: () => Promise<T>): Promise<T> {
    const moved = this.#moving.then(move)
    this.#moving = moved.catch(() => undefined)
    return moved
  }

  async #moveTo(elapsedMs: number): Promise<void> {
    if (this.#startMs + elapsedMs > lastMs)
      throw new RangeError(`the clock ends with the year 9999, and now is ${new Date(this.now()).toISOString()}`)
    await this.#settle()
    this.#wakeResting()
    while ((await this.#step(elapsedMs)) || (await this.#catchUp(elapsedMs)));
    this.#elapsedMs = Math.max(this.#elapsedMs, elapsedMs)
  }

  /**
   * Calls the earliest timer, if it is due by then, and waits until everything that it causes has happened. Background timers that are
   * due at the same time are called together.
   */
  async #step(untilMs: number): Promise<boolean> {
    const { first } = this.#queue
    if (first === undefined || first.dueMs > untilMs) return false
    if (first.wake === undefined) {
      if (await this.#catchUp(first.dueMs, first.watches)) return true
      if (first.watches === undefined) this.#wakeResting()
    }
    this.#elapsedMs = Math.max(this.#elapsedMs, first.dueMs)
    let timer: QueuedTimer | undefined = first
    // A callback may set another timer that is already due.
    for (let left = this.#queue.size; left > 0 && timer !== undefined; left -= 1) {
      this.#queue.takeDue(this.#elapsedMs)
      timer.callback()
      const next: QueuedTimer | undefined = this.#queue.first
      const isTogether: boolean = timer.background && next?.background === true && next.dueMs <= this.#elapsedMs
      timer = isTogether ? next : undefined
    }
    await this.#settle()
    return true
  }

  /** Calls each due resting timer, of one series or of all, at its time, and settles. False if none is due. */
  async #catchUp(elapsedMs: number, series?: TimerSeries): Promise<boolean> {
    const due = this.#resting.list().filter((timer) => timer.dueMs <= elapsedMs && (series === undefined || timer.series === series))
    if (due.length === 0) return false
    this.#elapsedMs = Math.max(this.#elapsedMs, elapsedMs)
    const takeNext = () => (series === undefined ? this.#resting.takeDue(elapsedMs) : this.#resting.takeDueOf(series, elapsedMs))
    for (let left = due.length; left > 0; left -= 1) takeNext()?.callback()
    await this.#settle()
    return true
  }

  #wakeResting(): void {
    for (const { wake } of this.#resting.list()) wake?.()
  }

  async #settle(): Promise<void> {
    const beganMs = systemClock.monotonic()
    const left = await this.work.settled({ withinMs: stepMsMax, stillMs: stillMsMax, except: automatic })
    if (left.length > 0 && systemClock.monotonic() - beganMs >= stepMsMax)
      throw new Error(`the clock stands at ${new Date(this.now()).toISOString()}, since its work does not end: ${left.join(', ')}`)
  }

  /** Advances while timers remain that are not background timers. */
  #run(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    void this.#move(async () => {
      try {
        await this.#settle()
        while (this.#queue.foregroundSize > 0 && (await this.#step(Number.POSITIVE_INFINITY)));
      } finally {
        this.#isRunning = false
      }
    })
  }
}

/** A duration (`40s`) or a number of milliseconds as milliseconds. Other texts and negative times throw a RangeError with the caller's name. */
export function toMs(caller: string, time: string | number): number {
  const duration = typeof time === 'string' ? parseDuration(time) : undefined
  if (typeof time === 'string' && duration === undefined)
    throw new RangeError(`${caller}(): ${time} is not a duration such as 40s or 1h30m`)
  const ms = duration === undefined ? Number(time) : durationToMs(duration)
  if (!(ms >= 0)) throw new RangeError(`${caller}(): ${time}: time does not go back`)
  return ms
}
