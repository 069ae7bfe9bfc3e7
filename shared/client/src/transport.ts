/** A request as it goes to the server. */
export interface TransportRequest {
  readonly method: string
  /** Path with its query: `/api/v1/pods?limit=5`. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  readonly signal?: AbortSignal
}

/** What comes back. The body must be read to its end or left by `return`, else its connection stays taken. */
export interface TransportResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: AsyncIterable<Uint8Array>
}

/** The way to a server: sockets, or a function call in the same process. */
export interface Transport {
  send(request: TransportRequest): Promise<TransportResponse>
  /** Ends open requests and gives every connection back. */
  close(): void
}
