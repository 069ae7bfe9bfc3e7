import type { LoggedRequest } from '@orch/core/contracts'
import { printRequests, type RequestFilter, type RequestLog } from '@orch/gateway'

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
