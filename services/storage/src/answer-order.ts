import type { Clock } from '@orch/platform'
import { answersFreeMs, handOutMsMax } from './limits.ts'

/**
 * Has commits answered at the end of the turn of the event loop in which they were made, behind the events that leave there. Where these
 * go to so many watchers that writers would wait long, the writers are answered first for a while: what they write meanwhile leaves with
 * the next events, which costs the watchers' sockets fewer writes.
 *
 *   turn: commit a, commit b | end: events of a and b, answer a, answer b        events take > 1 ms: answer a, answer b | end: events
 */
export class AnswerOrder {
  readonly #clock: Pick<Clock, 'monotonic'>
  #beganMs = 0
  #freeUntilMs = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** To be called when something was committed, before its events are put off to the end of the turn. */
  begin(): void {
    setImmediate(() => {
      this.#beganMs = this.#clock.monotonic()
    })
  }

  /** Resolves when a commit may be answered; undefined: at once. */
  answer(): Promise<void> | undefined {
    const left = new Promise<void>((resolve) => {
      setImmediate(() => {
        const nowMs = this.#clock.monotonic()
        if (nowMs - this.#beganMs > handOutMsMax) this.#freeUntilMs = nowMs + answersFreeMs
        resolve()
      })
    })
    return this.#clock.monotonic() < this.#freeUntilMs ? undefined : left
  }
}
