import type { GatewayRequest, InFlightCounts } from '../request/request.ts'

/** The changing state of the gateway. */
export interface GatewayState extends InFlightCounts {
  /** No new work: readyz fails, connections are asked to go. */
  isClosing: boolean
  /** Nothing but probes and the like is answered any more: clients are asked to come again later. */
  isRefusing: boolean
  /** `host:port` under which clients reach the server. */
  address: string
  /** Watches that are open, to be ended when the server stops, or when what they show is not served as it was. */
  readonly watches: Set<OpenWatch>
}

/** A watch that is open. */
interface OpenWatch {
  readonly request: GatewayRequest
  finish(): void
  /** Compares what the watch shows with what is served now that these groups have changed by what was committed at a revision. */
  compare(changed: ReadonlySet<string>, revision: number): void
}
