import type { LoggedRequest } from '@orch/core/contracts'
import { ApiError, ask } from './api.ts'
import { readLines } from './lines.ts'
import { send } from './session.ts'

/** Requests that the page holds: as many as the log of the server. */
const keptMax = 10_000
/** Requests that are read at first. */
const readMax = 2_000

/** The last requests. One that comes again, as a watch at its end, replaces the one of its number. */
export class FollowedLog {
  #requests: LoggedRequest[] = []
  /** Grows with each change. */
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
    // A thousand at a time, as each cut moves all others.
    if (requests.length > keptMax + 1_000) requests.splice(0, requests.length - keptMax)
  }

  /** Numbers rise, so that a search by halves finds one; below 0: there is none. */
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

/** Reads the log of the server and follows it until the signal. Rejects if there is none. */
export async function followLog(log: FollowedLog, signal: AbortSignal): Promise<void> {
  const { items } = await ask<{ items: readonly LoggedRequest[] }>(`/orch/v1/requests?last=${readMax}`, { signal })
  for (const item of items) log.add(item)
  const response = await send(`/api/orch/v1/requests?watch=true&after=${items.at(-1)?.id ?? 0}`, { signal })
  if (!response.ok || response.body === null) throw new ApiError(response.status, `the log cannot be followed: ${response.status}`)
  await readLines<LoggedRequest>(response.body, (requests) => {
    for (const request of requests) log.add(request)
  })
}
