import type { GatewayRequest, InFlightCounts } from '../request/request.ts'

/** The changing state of the gateway. */
export interface GatewayState extends InFlightCounts {
  /** True if no new work is accepted: readyz fails, and clients are asked to disconnect. */
  isClosing: boolean
  /** True if only probes and similar paths are answered: other clients are asked to return later. */
  isRefusing: boolean
  /** `host:port` of the server for clients. */
  address: string
  /** Open watches, to end when the server stops, or when their resource changes. */
  readonly watches: Set<OpenWatch>
}

interface OpenWatch {
  readonly request: GatewayRequest
  finish(): void
  /** Checks the watch's resource after a commit at a revision has changed these groups. */
  compare(changed: ReadonlySet<string>, revision: number): void
}
