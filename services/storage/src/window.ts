import { at } from '@orch/core/json'
import type { Revision } from '@orch/core/meta'
import type { Clock, Timer } from '@orch/platform'
import { windowNoteIntervalMs } from './limits.ts'

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
 * Retains the changes of the last minutes: records the store's revision at intervals, and compacts up to the newest record that is older than the
 * window. Uses the process's elapsed time, so that setting the clock does not shorten the window; a restart begins a new window.
 *
 *   window 5 m, notes (0:00, 10) (0:30, 12) … (5:00, 90) (5:30, 95)   at 5:30 → compact(12)
 */
export class Window {
  readonly #options: WindowOptions
  readonly #timer: Timer
  #notes: Note[] = []

  constructor(options: WindowOptions) {
    this.#options = options
    this.#note()
    this.#timer = options.clock.every(Math.min(windowNoteIntervalMs, options.historyMs), () => this.#turn())
  }

  close(): void {
    this.#timer.cancel()
  }

  #note(): void {
    const { clock, revision } = this.#options
    this.#notes.push({ revision: revision(), elapsedMs: clock.monotonic() })
  }

  #turn(): void {
    const { clock, historyMs, compact } = this.#options
    const youngestMs = clock.monotonic() - historyMs
    const index = this.#notes.findLastIndex(({ elapsedMs }) => elapsedMs <= youngestMs)
    if (index !== -1) {
      compact(at(this.#notes, index).revision)
      this.#notes = this.#notes.slice(index + 1)
    }
    this.#note()
  }
}
