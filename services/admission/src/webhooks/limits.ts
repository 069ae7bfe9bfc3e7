/** Timeouts of calls to admission webhooks, each with the reason for its number. */
export const limits = {
  /** Timeout of a call if an old configuration has none; the default of the API. */
  timeoutMsDefault: 10_000,
  /** Timeout of a request if the gateway sets none; the gateway's own default. */
  requestMsDefault: 60_000,
} as const
