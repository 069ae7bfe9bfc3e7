import type { GatewayRequest, InFlightCounts } from '../request/request.ts'

/** The changing state of the gateway. */
export interface GatewayState extends InFlightCounts {
  /** No new work: readyz fails, connections are asked to go. */
  isClosing: boolean
  /** Only probes and the like are still answered: other clients are asked to return later. */
  isRefusing: boolean
  /** `host:port` under which clients reach the server. */
  address: string
  /** Open watches, to be ended when the server stops, or when their resource is no longer served unchanged. */
  readonly watches: Set<OpenWatch>
}

/** A watch that is open. */
interface OpenWatch {
  readonly request: GatewayRequest
  finish(): void
  /** Compares the watch's resource with the served one after a commit at a revision has changed these groups. */
  compare(changed: ReadonlySet<string>, revision: number): void
}
