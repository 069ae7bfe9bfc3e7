import type { Timer, TimerSeries } from './clock.ts'
import { Heap, type HeapItem } from './heap.ts'

/** A timer of a clock that a test moves. */
export interface QueuedTimer {
  /** Due time on the monotonic clock. */
  readonly dueMs: number
  readonly background: boolean
  readonly callback: () => void
  /** The series of a repeating timer. */
  readonly series?: TimerSeries | undefined
  /** The series that the timer checks. */
  readonly watches?: TimerSeries | undefined
  /** Lets a repeating timer stop the clock again. */
  readonly wake?: () => void
}

interface Entry extends QueuedTimer, HeapItem {
  readonly sequence: number
}

/** The timers of a clock that a test moves. Timers that are due at the same time are called in the order in which they were set. */
export class TimerQueue {
  readonly #heap = new Heap<Entry>((one, other) => one.dueMs - other.dueMs || one.sequence - other.sequence)
  #sequence = 0
  #foregroundSize = 0

  get size(): number {
    return this.#heap.size
  }

  /** The number of timers that are not background timers. */
  get foregroundSize(): number {
    return this.#foregroundSize
  }

  /** The earliest timer. */
  get first(): QueuedTimer | undefined {
    return this.#heap.first
  }

  add(timer: QueuedTimer): Timer {
    const entry: Entry = { ...timer, sequence: this.#sequence++, index: -1 }
    this.#heap.add(entry)
    if (!entry.background) this.#foregroundSize += 1
    return { cancel: () => this.#remove(entry) }
  }

  /** Takes the earliest timer if it is due. */
  takeDue(nowMs: number): QueuedTimer | undefined {
    const { first } = this.#heap
    if (first === undefined || first.dueMs > nowMs) return undefined
    this.#remove(first)
    return first
  }

  /** Takes the earliest timer of a series if it is due. */
  takeDueOf(series: TimerSeries, nowMs: number): QueuedTimer | undefined {
    const first = this.#heap.firstWhere((entry) => entry.series === series && entry.dueMs <= nowMs)
    if (first !== undefined) this.#remove(first)
    return first
  }

  /** All timers, earliest first. */
  list(): readonly QueuedTimer[] {
    return this.#heap.list()
  }

  #remove(entry: Entry): void {
    if (this.#heap.remove(entry) && !entry.background) this.#foregroundSize -= 1
  }
}
