import { certificateReason } from '@orch/core/certificate-error'
import type { TransportRequest, TransportResponse } from '@orch/core/events'

export type { TransportRequest, TransportResponse }

/** The request was not sent because no connection was available, so it may be sent again, to any server, whatever its effect. */
export class UnsentError extends Error {
  override readonly name = 'UnsentError'
  /** The code of the system or of TLS: `ECONNREFUSED`. */
  readonly code: string | undefined

  constructor(cause: Error) {
    super(certificateReason(cause) ?? cause.message, { cause })
    this.code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
  }
}

/** Sends requests to the server, over sockets or by a function call in the same process. */
export interface Transport {
  /** True for a server in this process, which need not parse the body of a request with its value. */
  readonly takesValues?: boolean | undefined
  /** Rejects with an `UnsentError` if the request was never sent. */
  send(request: TransportRequest): Promise<TransportResponse>
  /** Ends open requests and closes every connection. */
  close(): void
}
