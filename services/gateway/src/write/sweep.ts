import { ended, type Timer } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'
import { watchKeys } from '../target/changed-keys.ts'

export interface SweepOptions extends Pick<Surroundings, 'storage' | 'clock' | 'log' | 'random'> {
  /** Storage prefixes of the rows that an interrupted write may leave. */
  readonly resources: readonly string[]
  /** Time from a change of a row to the sweep. */
  readonly delayMs: number
  /** Removes outdated rows. True if rows of writes in progress remain, which the next sweep checks. */
  readonly sweep: () => Promise<boolean>
  /** The message of the log for a failed sweep. */
  readonly problem: string
}

/** Sweeps rows of interrupted writes: after the start, after their changes, and until none remains. Nothing runs while no row changes. */
export class Sweep {
  readonly #options: SweepOptions
  readonly #ending = new AbortController()
  #timer: Timer | undefined

  constructor(options: SweepOptions) {
    this.#options = options
    void watchKeys({ ...options, onChange: this.#plan, onWatching: this.#plan, onLost: () => {}, signal: this.#ending.signal })
  }

  close(): void {
    this.#ending.abort(ended)
    this.#timer?.cancel()
  }

  readonly #plan = (): void => {
    if (this.#ending.signal.aborted) return
    const { clock, delayMs } = this.#options
    this.#timer ??= clock.after(delayMs, () => void this.#run(), { repeats: true })
  }

  async #run(): Promise<void> {
    const { sweep, log, problem } = this.#options
    this.#timer = undefined
    try {
      if (!(await sweep())) return
    } catch (error) {
      log.warn({ err: error }, problem)
    }
    this.#plan()
  }
}
