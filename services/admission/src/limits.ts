/** Bounds of admission, each with the reason for its number. */
export const limits = {
  /** How often gateways are told the interests again; they distrust a set of more than five seconds. */
  interestsIntervalMs: 1_000,
} as const
