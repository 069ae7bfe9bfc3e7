import type { LoggedRequest } from '@orch/core/contracts'
import { printRequests, type RequestFilter, type RequestLog } from '@orch/gateway'

/** The last 10,000 requests that were answered, oldest first, with the watches that are open. */
export interface Requests {
  /** Requests that the filter matches; without one all. */
  (filter?: RequestFilter): LoggedRequest[]
  count(filter?: RequestFilter): number
  /** A table of them, a line each. */
  print(filter?: RequestFilter): string
}

/** The requests of a server. */
export interface ServerRequests extends Requests {
  /** Forgets all requests, so that a test counts from here. */
  clear(): void
}

/** The requests of a log that a filter matches, as far as a test asks for no others. */
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
