import type { LoggedRequest } from '@orch/core/contracts'
import { type OrderedRequest, printRequests, type RequestFilter, type RequestLog, type RequestOrder } from '@orch/gateway'
import { type Activity, type Chance, sleep, systemClock } from '@orch/platform'

/** The last 10,000 answered requests, oldest first, and the open watches. */
export interface Requests {
  /** Requests that match the filter; without a filter all requests. */
  (filter?: RequestFilter): LoggedRequest[]
  count(filter?: RequestFilter): number
  /** A table of the requests, one line each. */
  print(filter?: RequestFilter): string
}

/** The requests of a server. */
export interface ServerRequests extends Requests {
  /** Clears the log, so that later counts begin at zero. */
  clear(): void
}

/** The requests of a log that match a filter, unless a test passes another filter. */
export function requestsIn(log: RequestLog, own: RequestFilter = {}): Requests {
  const read = (filter: RequestFilter = {}) => log.read({ ...filter, ...own })
  return Object.assign(read, {
    count: (filter?: RequestFilter) => read(filter).length,
    print: (filter?: RequestFilter) => printRequests(read(filter)),
  })
}

/** All requests of a log. */
export function allRequestsIn(log: RequestLog): ServerRequests {
  return Object.assign(requestsIn(log), { clear: () => log.clear() })
}

interface Waiting extends OrderedRequest {
  /** The order of arrival is the last resort for identical requests. */
  readonly number: number
  pass(): void
}

/** The name of weather that has not ended, for `settled` and for the order of requests. */
export const weatherWork = 'weather of orch explore'

/** Real time in which clients in other processes send the requests that follow an answer. */
const quietMs = 5
/** The longest wait in real time for the server to settle before the next request passes. */
const restMsMax = 30_000
/** Work without progress for this time waits for a request. */
const stillMsMax = 5_000

/**
 * Serializes the requests of clients. The next request passes when the server and the clients are idle; the seed chooses it among the waiting
 * requests, regardless of their arrival times.
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
      await this.#activity.settled({ withinMs: restMsMax, stillMs: stillMsMax, except: weatherWork })
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
