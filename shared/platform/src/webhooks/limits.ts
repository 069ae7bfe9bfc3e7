/** Bounds of calls to webhooks, each with the reason for its number. */
export const limits = {
  /** Bytes of an answer: the body of a request has no more either, and a patch of it needs few. */
  answerBytesMax: 3 * 1024 * 1024,
  /** Characters of a refusing answer that a message repeats; more would not help. */
  answerTextMax: 2_048,
  /** Redirects of one call that are followed, as in Go's clients. */
  redirectsMax: 10,
  /** Connections to one webhook. More calls wait for one, within their own time. */
  connectionsMax: 128,
  /** Connections to one webhook that are kept when nothing is to be said: enough for the next burst. */
  idleConnectionsMax: 16,
  /** TLS contexts, one for each bundle of authorities with each client certificate: about 100 KB each, most of it outside of V8. */
  contextsMax: 64,
  /** Lifetime of a Service's cached addresses: calls come in bursts, and endpoints change rarely. */
  addressAgeMsMax: 1_000,
  /** Services whose addresses are remembered; beyond it all are forgotten. */
  addressesMax: 1_000,
  /** Slices of endpoints of one namespace that are looked through for one Service. */
  endpointSlicesMax: 1_000,
} as const
