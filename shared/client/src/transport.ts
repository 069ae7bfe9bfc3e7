import { certificateReason } from '@orch/core/certificate-error'

/** A request to the server. */
export interface TransportRequest {
  readonly method: string
  /** Path with its query: `/api/v1/pods?limit=5`. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  readonly signal?: AbortSignal
}

/** A response. The body must be read to its end or left by `return`, else its connection stays taken. */
export interface TransportResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: AsyncIterable<Uint8Array>
}

/** There was no connection for a request: it did not leave, so it may be sent again, or to another server, whatever its effect. */
export class UnsentError extends Error {
  override readonly name = 'UnsentError'
  /** As the system or TLS says it: `ECONNREFUSED`. */
  readonly code: string | undefined

  constructor(cause: Error) {
    super(certificateReason(cause) ?? cause.message, { cause })
    this.code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
  }
}

/** The way to a server: sockets, or a function call in the same process. */
export interface Transport {
  /** Rejects with an `UnsentError` where the request never left. */
  send(request: TransportRequest): Promise<TransportResponse>
  /** Ends open requests and gives every connection back. */
  close(): void
}
