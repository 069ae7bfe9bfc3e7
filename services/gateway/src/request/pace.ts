import type { Steps } from '@orch/core/steps'
import { type Clock, laterTurn, systemClock } from '@orch/platform'
import { limits } from '../limits.ts'
import type { GatewayRequest } from './request.ts'

/**
 * Shares the event loop between large requests and all others. A large request runs in steps, and all large requests together take one step per turn of
 * the loop, so that small requests are answered in between, for any number of large ones.
 */
export class Pace {
  readonly #clock: Pick<Clock, 'monotonic'>

  constructor(clock: Pick<Clock, 'monotonic'> = systemClock) {
    this.#clock = clock
  }

  /** Resolves when the next step may be taken: in a later turn of the loop, after earlier callers. */
  turn(): Promise<void> {
    return laterTurn()
  }

  /** Takes the steps of one job, each in a separate turn. */
  async run<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
      await this.turn()
    }
  }

  /** Takes steps at once for the duration of an ordinary request, and the rest like `run`. */
  runBriefly<T>(steps: Steps<T>): T | Promise<T> {
    const first = steps.next()
    if (first.done === true) return first.value
    const untilMs = this.#clock.monotonic() + briefMs
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
      if (this.#clock.monotonic() > untilMs) return this.#goOn(steps)
    }
  }

  async #goOn<T>(steps: Steps<T>): Promise<T> {
    await this.turn()
    return this.run(steps)
  }
}

/** Work of one request that may be done in one turn of the loop. */
const briefMs = 5

/** The pace at which the requests of a gateway share the event loop. */
interface Paced {
  readonly pace: Pace
}

/** A pause between two steps of a large request, for all others. An ordinary request continues at once. */
export function pause({ isLarge }: GatewayRequest, { pace }: Paced): Promise<void> | undefined {
  return isLarge ? pace.turn() : undefined
}

/** Runs steps on behalf of a request: with pauses for a large request or long work, and otherwise at once. */
export function advance<T>({ isLarge }: GatewayRequest, steps: Steps<T>, { pace }: Paced): T | Promise<T> {
  return isLarge ? pace.run(steps) : pace.runBriefly(steps)
}

/**
 * Begins requests in the order of their arrival, as many in one turn of the event loop as fit `limits.requestTurnMs`, and waiting ones
 * for as long as all other work has taken since the turn before: half of the loop is theirs, for any number of watches with events.
 *
 * When many connections have something to read, Node hands over all of it in one turn. If all requests began there, none of their
 * calls to other services would leave before the last one had been worked on, answers would wait as long, and the objects of all of
 * them would be alive at once, so that each young collection would copy them.
 *
 * The connections and their streams bound the waiting requests; a waiting request has its deadline already.
 */
export class RequestTurns {
  readonly #clock: Pick<Clock, 'monotonic'>
  #waiting: (() => void)[] = []
  #isInTurn = false
  #untilMs = 0
  /** Time since which all other work has run. */
  #elseSinceMs = 0

  constructor(clock: Pick<Clock, 'monotonic'> = systemClock) {
    this.#clock = clock
  }

  /** Requests that have arrived and not started. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Starts a request: at once if the turn has capacity and none waits, otherwise in a later turn. */
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
