import { at } from '@orch/core/json'
import type { Revision } from '@orch/core/meta'
import type { Clock, Timer } from '@orch/platform'
import { limits } from './limits.ts'

interface Note {
  readonly revision: Revision
  readonly elapsedMs: number
}

/** The dependencies of a window. */
export interface WindowOptions {
  readonly clock: Clock
  readonly historyMs: number
  readonly revision: () => Revision
  readonly compact: (upTo: Revision) => void
}

/**
 * Retains the changes of the last minutes: records the store's revision at intervals while it changes, and compacts up to the newest record that is older
 * than the window. Uses the process's elapsed time, so that setting the clock does not shorten the window; a restart begins a new window.
 *
 *   window 5 m, notes (0:00, 10) (0:30, 12) … (5:00, 90) (5:30, 95)   at 5:30 → compact(12)
 */
export class Window {
  readonly #options: WindowOptions
  #timer: Timer | undefined
  /** Not compacted yet, oldest first. */
  #notes: Note[] = []
  #lastNote: Note

  constructor(options: WindowOptions) {
    this.#options = options
    this.#lastNote = this.#note()
    this.planTurn()
  }

  close(): void {
    this.#timer?.cancel()
  }

  /** Sets the timer for the next record or compaction. Called after changes; without changes nothing is due after the last compaction. */
  planTurn(): void {
    const { clock, historyMs } = this.#options
    const [oldest] = this.#notes
    const dueMs = Math.min(
      this.#hasMoved ? this.#lastNote.elapsedMs + this.#intervalMs : Number.POSITIVE_INFINITY,
      oldest === undefined ? Number.POSITIVE_INFINITY : oldest.elapsedMs + historyMs,
    )
    this.#timer?.cancel()
    if (dueMs === Number.POSITIVE_INFINITY) return
    this.#timer = clock.after(Math.max(0, dueMs - clock.monotonic()), () => this.#turn(), { repeats: true })
  }

  get #intervalMs(): number {
    return Math.min(limits.windowNoteIntervalMs, this.#options.historyMs)
  }

  /** True if the revision differs from the last record. */
  get #hasMoved(): boolean {
    return this.#options.revision() !== this.#lastNote.revision
  }

  #note(): Note {
    const { clock, revision } = this.#options
    this.#lastNote = { revision: revision(), elapsedMs: clock.monotonic() }
    this.#notes.push(this.#lastNote)
    return this.#lastNote
  }

  #turn(): void {
    const { clock, historyMs, compact } = this.#options
    const nowMs = clock.monotonic()
    const index = this.#notes.findLastIndex(({ elapsedMs }) => elapsedMs + historyMs <= nowMs)
    if (index !== -1) {
      compact(at(this.#notes, index).revision)
      this.#notes = this.#notes.slice(index + 1)
    }
    if (this.#hasMoved && nowMs >= this.#lastNote.elapsedMs + this.#intervalMs) this.#note()
    this.planTurn()
  }
}
