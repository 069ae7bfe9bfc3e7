import type { Clock, Timer } from './clock.ts'
import { exchangeScope, runInScope } from './exchange-scope.ts'
import { Heap, type HeapItem } from './heap.ts'

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

/** Many timers that share one background timer of the clock, for bookmarks and for the ends of watches. */
export class TimerWheel {
  readonly #clock: Clock
  readonly #tickMs: number
  readonly #repeats: boolean
  readonly #entries = new Heap<WheelEntry>((one, other) => one.dueTick - other.dueTick)
  #timer: Timer | undefined
  /** The tick for which the clock's timer is set. */
  #timerTick = Number.POSITIVE_INFINITY

  constructor({ clock, tickMs = 250, repeats = false }: TimerWheelOptions) {
    this.#clock = clock
    this.#repeats = repeats
    this.#tickMs = tickMs
  }

  /** The number of waiting tasks. */
  get size(): number {
    return this.#entries.size
  }

  /** Calls `task.due()` once, when at least the delay has passed. */
  after(delayMs: number, task: WheelTask): Timer {
    const nowMs = this.#clock.monotonic()
    const dueTick = Math.max(Math.ceil((nowMs + delayMs) / this.#tickMs), Math.floor(nowMs / this.#tickMs) + 1)
    const entry = new WheelEntry(this, task, dueTick)
    this.#entries.add(entry)
    this.#setTimer()
    return entry
  }

  /** Drops all tasks. */
  close(): void {
    for (let { first } = this.#entries; first !== undefined; first = this.#entries.first) first.cancel()
  }

  /** Removes an entry; called by the entry itself. */
  remove(entry: WheelEntry): void {
    if (!this.#entries.remove(entry) || this.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
    this.#timerTick = Number.POSITIVE_INFINITY
  }

  #setTimer(): void {
    const { first } = this.#entries
    if (first === undefined || first.dueTick >= this.#timerTick) return
    this.#timer?.cancel()
    this.#timerTick = first.dueTick
    const delayMs = Math.ceil(first.dueTick * this.#tickMs - this.#clock.monotonic())
    this.#timer = this.#clock.after(Math.max(0, delayMs), () => this.#advance(), { background: true, repeats: this.#repeats })
  }

  /** Runs the due tasks. Tasks that they set are due at a later tick. */
  #advance(): void {
    const target = Math.floor(this.#clock.monotonic() / this.#tickMs)
    this.#timerTick = Number.POSITIVE_INFINITY
    for (let { first } = this.#entries; first !== undefined && first.dueTick <= target; first = this.#entries.first) first.ring()
    this.#setTimer()
  }
}

class WheelEntry implements Timer, HeapItem {
  index = -1
  readonly dueTick: number
  readonly #wheel: TimerWheel
  readonly #task: WheelTask
  /** The exchange that set the task, not the one that set the wheel's timer. */
  readonly #scope = exchangeScope()

  constructor(wheel: TimerWheel, task: WheelTask, dueTick: number) {
    this.#wheel = wheel
    this.#task = task
    this.dueTick = dueTick
  }

  cancel(): void {
    this.#wheel.remove(this)
  }

  ring(): void {
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
