import type { LoggedRequest } from '@orch/core/contracts'
import { errorOf } from './api.ts'
import { readLines } from './lines.ts'
import { send } from './session.ts'

/** Maximum requests on the page, as in the server's log. */
const keptMax = 10_000
/** The last requests, oldest first. A repeated id (the end of a watch) replaces the earlier request. */
export class FollowedLog {
  #requests: LoggedRequest[] = []
  /** Increases with each change. */
  version = 0

  /** Oldest first. Valid until the next change. */
  get requests(): readonly LoggedRequest[] {
    return this.#requests
  }

  add(request: LoggedRequest): void {
    const requests = this.#requests
    this.version += 1
    const last = requests.at(-1)
    if (last === undefined || request.id > last.id) requests.push(request)
    else {
      const place = this.#placeOf(request.id)
      if (place >= 0) requests[place] = request
    }
    // Removes a thousand requests at a time, because each removal moves all others.
    if (requests.length > keptMax + 1_000) requests.splice(0, requests.length - keptMax)
  }

  /** Binary search for the index of an id, since ids are ascending; negative if the id is unknown. */
  #placeOf(id: number): number {
    let [low, high] = [0, this.#requests.length - 1]
    while (low <= high) {
      const middle = (low + high) >> 1
      const found = this.#requests[middle]?.id ?? 0
      if (found === id) return middle
      if (found < id) low = middle + 1
      else high = middle - 1
    }
    return -1
  }
}

/** Reads the server's whole log as a stream, and follows it until the signal aborts. Rejects if the server has no log. */
export async function followLog(log: FollowedLog, signal: AbortSignal): Promise<void> {
  const response = await send(`/api/orch/v1/requests?watch=true&after=${log.requests.at(-1)?.id ?? 0}`, { signal })
  if (!response.ok || response.body === null) throw await errorOf(response)
  await readLines<LoggedRequest>(response.body, (requests) => {
    for (const request of requests) log.add(request)
  })
}
