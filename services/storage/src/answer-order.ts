import type { Clock } from '@orch/platform'
import { answersFreeMs, handOutMsMax, slowHandOuts } from './limits.ts'

/**
 * Has commits answered at the end of the turn of the event loop in which they were made, behind the events that leave there. Where these
 * go to so many watchers that writers would wait long, the writers are answered first for a while: what they write meanwhile leaves with
 * the next events, which costs the watchers' sockets fewer writes.
 *
 *   turn: commit a, commit b | end: events of a and b, answer a, answer b        often > 1 ms: answer a, answer b | end: events
 */
export class AnswerOrder {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** When the events of this turn began to leave; undefined: there are none, or their time was taken. */
  #beganMs: number | undefined
  #hasBegun = false
  /** Turns one after the other whose events took long. One alone may have met a collection of garbage. */
  #slow = 0
  #freeUntilMs = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** To be called when something was committed, before its events are put off to the end of the turn. */
  begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    setImmediate(() => {
      this.#beganMs = this.#clock.monotonic()
      // Behind the answers, should there be any: commits of other replicas have none here.
      setImmediate(() => {
        this.#beganMs = undefined
        this.#hasBegun = false
      })
    })
  }

  /** Resolves when a commit may be answered; undefined: at once. */
  answer(): Promise<void> | undefined {
    const left = new Promise<void>((resolve) => {
      setImmediate(() => {
        this.#note()
        resolve()
      })
    })
    return this.#clock.monotonic() < this.#freeUntilMs ? undefined : left
  }

  #note(): void {
    if (this.#beganMs === undefined) return
    const nowMs = this.#clock.monotonic()
    this.#slow = nowMs - this.#beganMs > handOutMsMax ? this.#slow + 1 : 0
    this.#beganMs = undefined
    if (this.#slow >= slowHandOuts) this.#freeUntilMs = nowMs + answersFreeMs
  }
}
