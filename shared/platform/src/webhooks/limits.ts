/** Limits of webhook calls, each with its reason. */
export const limits = {
  /** Size of an answer: the body of a request has the same limit, and a patch is usually small. */
  answerBytesMax: 3 * 1024 * 1024,
  /** Characters of a refusing answer that a message repeats; more would not be useful. */
  answerTextMax: 2_048,
  /** Redirects that one call follows, as in Go's clients. */
  redirectsMax: 10,
  /** Connections per webhook. Further calls wait, within their own time. */
  connectionsMax: 128,
  /** Idle connections per webhook, for the next burst. */
  idleConnectionsMax: 16,
  /** TLS contexts, one per bundle of authorities and client certificate; each takes about 100 KB, mostly outside of V8. */
  contextsMax: 64,
  /** Lifetime of a Service's cached addresses: calls arrive in bursts, and endpoints change rarely. */
  addressAgeMsMax: 1_000,
  /** Number of Services whose addresses are cached; a full cache is cleared. */
  addressesMax: 1_000,
  /** EndpointSlices of a namespace that are searched for one Service. */
  endpointSlicesMax: 1_000,
} as const
