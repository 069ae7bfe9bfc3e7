import { certificateReason } from '@orch/core/certificate-error'
import type { SharedEvents } from '@orch/core/events'

/** A request to the server. */
export interface TransportRequest {
  readonly method: string
  /** The path with the query: `/api/v1/pods?limit=5`. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string | undefined
  /** The parsed body, for a transport with `takesValues`. */
  readonly value?: unknown
  readonly signal?: AbortSignal | undefined
  /** True to take the events of a watch without their text, from a server in this process. */
  readonly takesEvents?: boolean | undefined
}

/** A response. The body must be read to its end or ended by `return`; otherwise its connection stays in use. */
export interface TransportResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: AsyncIterable<Uint8Array>
  /** The bytes of the body if all are present; `body` then need not be read. */
  readonly whole?: Uint8Array | undefined
  /** The body of an answer with events without their text, to be read in place of `body`. */
  readonly pieces?: AsyncIterable<Uint8Array | SharedEvents> | undefined
  /** The parsed body, frozen, if a server in this process has it. */
  readonly value?: ReturnType<typeof JSON.parse>
}

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
