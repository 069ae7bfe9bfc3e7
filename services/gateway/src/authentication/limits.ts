/** Bounds of authentication, each with the reason for its number. */
export const limits = {
  /** Longest bearer token in characters; the largest that providers issue have some 10,000. */
  tokenLengthMax: 16 * 1024,
  /** Tokens whose outcome is kept. */
  cachedTokensMax: 4_096,
  /** How long an accepted token is believed without looking again, unless what stands behind it changes. */
  cachedAcceptedMs: 10_000,
  /** How long a refused token is refused without looking again, unless what could stand behind it changes. */
  cachedRefusedMs: 10_000,
  /** Tolerated difference between our clock and that of a token's issuer. */
  clockSkewMs: 60_000,
  /** How long tokens outlive the deletion of what they stand for, while it is still there: the pod may have to end in order. */
  deletionGraceMs: 60_000,
  /** Longest pause between two attempts to hear of changes again; until then a token is believed for `cachedAcceptedMs` at most. */
  changesRetryMsMax: 5_000,
} as const
