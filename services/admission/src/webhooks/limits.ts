/** Times of calls to admission webhooks, each with the reason for its number. */
export const limits = {
  /** Time for an answer where an old configuration does not say it; the default of the API. */
  timeoutMsDefault: 10_000,
  /** Time for a request of which the gateway does not say how much it has; its own default. */
  requestMsDefault: 60_000,
} as const
