/** Bounds of authentication, each with the reason for its number. */
export const limits = {
  /** Longest bearer token in characters; the largest that providers issue have some 10,000. */
  tokenLengthMax: 16 * 1024,
  /** Tokens whose outcome is kept. */
  cachedTokensMax: 4_096,
  /** Time in the cache of an accepted token, unless the objects behind it change. */
  cachedAcceptedMs: 10_000,
  /** Time in the cache of a refused token, unless the objects that could be behind it change. */
  cachedRefusedMs: 10_000,
  /** Tolerated difference between our clock and that of a token's issuer. */
  clockSkewMs: 60_000,
  /** Time for which tokens outlive the deletion of their object, while it still exists: the pod may have to end in order. */
  deletionGraceMs: 60_000,
  /** Longest pause between two attempts to hear of changes again; until then a token is believed for `cachedAcceptedMs` at most. */
  changesRetryMsMax: 5_000,
} as const
