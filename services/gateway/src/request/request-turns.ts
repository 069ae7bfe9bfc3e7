import { type Clock, systemClock } from '@orch/platform'
import { limits } from '../limits.ts'

/**
 * Begins requests in the order in which they come, as many in one turn of the event loop as fit `limits.requestTurnMs`, and those that
 * wait for as long as all else has taken since the turn before: half of the loop is theirs, however many watches have events.
 *
 * When many connections have something to read, Node hands over all of it in one turn. If all requests began there, none of their
 * calls to other services would leave before the last one had been worked on, answers would wait as long, and the objects of all of
 * them would be alive at once, so that each young collection would copy them.
 *
 * What waits is bounded by the connections and their streams; a request that waits has its deadline already.
 */
export class RequestTurns {
  readonly #clock: Pick<Clock, 'monotonic'>
  #waiting: (() => void)[] = []
  #isInTurn = false
  #untilMs = 0
  /** Since when all else has had its turn. */
  #elseSinceMs = 0

  constructor(clock: Pick<Clock, 'monotonic'> = systemClock) {
    this.#clock = clock
  }

  /** Requests that have come and not begun. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Begins a request: at once where the turn has room and none waits, else in a later turn. */
  begin(start: () => void): void {
    if (!this.#isInTurn) {
      this.#openTurn(limits.requestTurnMs)
      start()
    } else if (this.#waiting.length === 0 && this.#clock.monotonic() < this.#untilMs) start()
    else this.#waiting.push(start)
  }

  #openTurn(durationMs: number): void {
    this.#isInTurn = true
    this.#elseSinceMs = this.#clock.monotonic()
    this.#untilMs = this.#elseSinceMs + durationMs
    setImmediate(this.#next)
  }

  #next = (): void => {
    this.#isInTurn = false
    if (this.#waiting.length === 0) return
    const elseMs = this.#clock.monotonic() - this.#elseSinceMs
    this.#openTurn(Math.min(limits.requestTurnMsMax, Math.max(limits.requestTurnMs, elseMs)))
    let begun = 0
    do {
      this.#waiting[begun]?.()
      begun += 1
    } while (begun < this.#waiting.length && this.#clock.monotonic() < this.#untilMs)
    this.#waiting = this.#waiting.slice(begun)
    this.#elseSinceMs = this.#clock.monotonic()
  }
}
