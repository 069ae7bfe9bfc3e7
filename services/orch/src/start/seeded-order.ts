import type { OrderedRequest, RequestOrder } from '@orch/gateway'
import { type Activity, type Chance, sleep, systemClock } from '@orch/platform'

interface Waiting extends OrderedRequest {
  /** In the order of arrival: the last resort for requests that are alike. */
  readonly number: number
  pass(): void
}

/** Real time for clients in other processes to send what an answer makes them send. */
const quietMs = 5
/** Longest wait for the server to come to rest before the next request passes, in real time. */
const restMsMax = 30_000
/** Work that makes no progress for so long waits for a request. */
const stillMsMax = 5_000

/**
 * Requests of clients pass one at a time, each when the server and the clients are at rest, in an order that the seed draws among those
 * that wait. When they arrived does not matter.
 *
 *   a: PUT /x waits, b: PUT /x waits  →  seed 1: b, a   seed 2: a, b
 */
export class SeededOrder implements RequestOrder {
  readonly #draw: () => number
  readonly #activity: Activity
  #waiting: Waiting[] = []
  #arrived = 0
  #isPassing = false

  constructor(chance: Chance, activity: Activity) {
    this.#draw = chance.stream('order').fraction
    this.#activity = activity
  }

  turn(request: OrderedRequest): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ ...request, number: this.#arrived++, pass: resolve })
      if (!this.#isPassing) void this.#passAll()
    })
  }

  async #passAll(): Promise<void> {
    this.#isPassing = true
    while (this.#waiting.length > 0) {
      await sleep(systemClock, quietMs)
      await this.#activity.settled({ withinMs: restMsMax, stillMs: stillMsMax })
      const sorted = this.#waiting.sort(byContent)
      const chosen = sorted[Math.floor(this.#draw() * sorted.length)]
      this.#waiting = sorted.filter((one) => one !== chosen)
      chosen?.pass()
    }
    this.#isPassing = false
  }
}

function byContent(one: Waiting, other: Waiting): number {
  const [left, right] = [one, other].map(({ user, method, target }) => `${user} ${method} ${target}`)
  if (left === right || left === undefined || right === undefined) return one.number - other.number
  return left < right ? -1 : 1
}
