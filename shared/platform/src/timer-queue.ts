import type { Timer, TimerSeries } from './clock.ts'

/** A timer of a clock that a test moves. */
export interface QueuedTimer {
  /** Due time on the monotonic clock. */
  dueMs: number
  /** Undefined for a one-time timer. */
  readonly intervalMs: number | undefined
  readonly background: boolean
  readonly callback: () => void
  /** The series of a repeating timer. */
  readonly series?: TimerSeries | undefined
  /** The series that the timer checks. */
  readonly watches?: TimerSeries | undefined
  /** Lets a repeating timer stop the clock again. */
  readonly wake?: () => void
}

interface Entry extends QueuedTimer {
  sequence: number
  /** Index in the heap; -1 if the timer is not in the heap. */
  index: number
}

/**
 * The timers of a clock that a test moves, as a binary heap ordered by time. Timers that are due at the same time are called in the
 * order in which they were set. Adding, cancelling and taking the first timer cost O(log n).
 */
export class TimerQueue {
  readonly #heap: Entry[] = []
  #sequence = 0
  #foregroundSize = 0

  get size(): number {
    return this.#heap.length
  }

  /** The number of timers that are not background timers. */
  get foregroundSize(): number {
    return this.#foregroundSize
  }

  /** The earliest timer. */
  get first(): QueuedTimer | undefined {
    return this.#heap[0]
  }

  add(timer: QueuedTimer): Timer {
    const entry: Entry = { ...timer, sequence: this.#sequence++, index: this.#heap.length }
    this.#heap.push(entry)
    this.#rise(entry)
    if (!entry.background) this.#foregroundSize += 1
    return { cancel: () => this.#remove(entry) }
  }

  /** Takes the earliest timer if it is due; a repeating one is set again, one interval later. */
  takeDue(nowMs: number): QueuedTimer | undefined {
    const [first] = this.#heap
    if (first === undefined || first.dueMs > nowMs) return undefined
    if (first.intervalMs === undefined) this.#remove(first)
    else {
      first.dueMs += first.intervalMs
      first.sequence = this.#sequence++
      this.#sink(first)
    }
    return first
  }

  /** Takes the earliest timer of a series if it is due. */
  takeDueOf(series: TimerSeries, nowMs: number): QueuedTimer | undefined {
    const [first] = this.#heap.filter((entry) => entry.series === series && entry.dueMs <= nowMs).sort(compare)
    if (first !== undefined) this.#remove(first)
    return first
  }

  /** All timers, earliest first. */
  list(): readonly QueuedTimer[] {
    return this.#heap.toSorted(compare)
  }

  #remove(entry: Entry): void {
    const { index } = entry
    if (index === -1) return
    entry.index = -1
    if (!entry.background) this.#foregroundSize -= 1
    const last = this.#heap.pop()
    if (last === undefined || last === entry) return
    this.#put(last, index)
    this.#rise(last)
    this.#sink(last)
  }

  #rise(entry: Entry): void {
    while (entry.index > 0) {
      const parent = this.#heap[(entry.index - 1) >>> 1]
      if (parent === undefined || compare(parent, entry) <= 0) return
      this.#swap(parent, entry)
    }
  }

  #sink(entry: Entry): void {
    for (;;) {
      const left = this.#heap[2 * entry.index + 1]
      const right = this.#heap[2 * entry.index + 2]
      const child = left !== undefined && right !== undefined && compare(right, left) < 0 ? right : left
      if (child === undefined || compare(entry, child) <= 0) return
      this.#swap(entry, child)
    }
  }

  #swap(one: Entry, other: Entry): void {
    const { index } = one
    this.#put(one, other.index)
    this.#put(other, index)
  }

  #put(entry: Entry, index: number): void {
    entry.index = index
    this.#heap[index] = entry
  }
}

function compare(one: Entry, other: Entry): number {
  return one.dueMs - other.dueMs || one.sequence - other.sequence
}
