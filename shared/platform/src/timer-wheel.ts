import type { Clock, Timer } from './clock.ts'
import { exchangeScope, runInScope } from './exchange-scope.ts'

/** A task to be called at a time. It is an object and not a function, so that ten thousand tasks need no closures. */
export interface WheelTask {
  due(): void
}

/** The clock of a wheel, and its resolution. */
export interface TimerWheelOptions {
  readonly clock: Clock
  /** The resolution: a task runs at most this much late and never early. */
  readonly tickMs?: number
  /** True if the tasks form endless series. */
  readonly repeats?: boolean
}

/**
 * Many timers that share one, for bookmarks and for the ends of watches. Setting and cancelling cost a few pointers each. The clock has
 * only one background timer, for the earliest task.
 *
 *   256 slots of 250 ms: a task due in 70 s is in slot (now + 280 ticks) mod 256 and is skipped once.
 */
export class TimerWheel {
  readonly #clock: Clock
  readonly #tickMs: number
  readonly #repeats: boolean
  readonly #slots: (WheelEntry | undefined)[] = []
  #timer: Timer | undefined
  /** The tick for which the clock's timer is set. */
  #timerTick = Number.POSITIVE_INFINITY
  #ticked = 0
  #size = 0

  constructor({ clock, tickMs = 250, repeats = false }: TimerWheelOptions) {
    this.#clock = clock
    this.#repeats = repeats
    this.#tickMs = tickMs
  }

  /** The number of waiting tasks. */
  get size(): number {
    return this.#size
  }

  /** Calls `task.due()` once, when at least the delay has passed. */
  after(delayMs: number, task: WheelTask): Timer {
    if (this.#size === 0) this.#ticked = Math.floor(this.#clock.monotonic() / this.#tickMs)
    const dueTick = Math.max(Math.ceil((this.#clock.monotonic() + delayMs) / this.#tickMs), this.#ticked + 1)
    const entry = new WheelEntry(this, task, dueTick)
    const slot = dueTick % slotCount
    const first = this.#slots[slot]
    entry.after = first
    if (first !== undefined) first.before = entry
    this.#slots[slot] = entry
    this.#size += 1
    if (dueTick < this.#timerTick) this.#setTimer(dueTick)
    return entry
  }

  /** Drops all tasks. */
  close(): void {
    for (let slot = 0; slot < slotCount; slot += 1) while (this.#slots[slot] !== undefined) this.#slots[slot]?.cancel()
  }

  /** Removes an entry; called by the entry itself. */
  remove(entry: WheelEntry): void {
    if (entry.before !== undefined) entry.before.after = entry.after
    else this.#slots[entry.dueTick % slotCount] = entry.after
    if (entry.after !== undefined) entry.after.before = entry.before
    entry.before = undefined
    entry.after = undefined
    this.#size -= 1
    if (this.#size === 0) this.#stop()
  }

  #setTimer(tick: number): void {
    this.#timer?.cancel()
    this.#timerTick = tick
    const delayMs = Math.ceil(tick * this.#tickMs - this.#clock.monotonic())
    this.#timer = this.#clock.after(Math.max(0, delayMs), () => this.#advance(), { background: true, repeats: this.#repeats })
  }

  #stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#timerTick = Number.POSITIVE_INFINITY
  }

  /** Runs the due slots. After a long pause each slot is checked once. */
  #advance(): void {
    const target = Math.floor(this.#clock.monotonic() / this.#tickMs)
    const from = Math.max(this.#ticked + 1, target - slotCount + 1)
    this.#ticked = target
    const due: WheelEntry[] = []
    for (let tick = from; tick <= target; tick += 1) {
      for (let entry = this.#slots[tick % slotCount]; entry !== undefined; entry = entry.after) if (entry.dueTick <= target) due.push(entry)
    }
    due.sort((a, b) => a.dueTick - b.dueTick)
    this.#timerTick = Number.POSITIVE_INFINITY
    for (const entry of due) entry.ring()
    if (this.#size > 0) this.#setTimer(this.#earliestTick())
  }

  /** The tick of the earliest task: the next one in the current turn of the wheel, or else the earliest of all. */
  #earliestTick(): number {
    let earliest = Number.POSITIVE_INFINITY
    for (let tick = this.#ticked + 1; tick <= this.#ticked + slotCount; tick += 1) {
      for (let entry = this.#slots[tick % slotCount]; entry !== undefined; entry = entry.after) {
        if (entry.dueTick === tick) return tick
        earliest = Math.min(earliest, entry.dueTick)
      }
    }
    return earliest
  }
}

const slotCount = 256

class WheelEntry implements Timer {
  readonly #task: WheelTask
  /** The exchange that set the task, not the one that set the wheel's timer. */
  readonly #scope = exchangeScope()
  #wheel: TimerWheel | undefined
  readonly dueTick: number
  before: WheelEntry | undefined
  after: WheelEntry | undefined

  constructor(wheel: TimerWheel, task: WheelTask, dueTick: number) {
    this.#wheel = wheel
    this.#task = task
    this.dueTick = dueTick
  }

  cancel(): void {
    const wheel = this.#wheel
    this.#wheel = undefined
    wheel?.remove(this)
  }

  /** Does nothing if another task of the same tick has cancelled this one. */
  ring(): void {
    if (this.#wheel === undefined) return
    this.cancel()
    const scope = this.#scope
    if (scope === undefined) {
      this.#task.due()
      return
    }
    try {
      runInScope(scope, () => this.#task.due())
    } catch (error) {
      // The other tasks of this tick still run.
      scope.fail(error)
    }
  }
}
