/** Limits of authentication, each with the reason for its number. */
export const limits = {
  /** Maximum characters of a bearer token; the largest of known providers have some 10,000. */
  tokenLengthMax: 16 * 1024,
  /** Maximum number of cached tokens. */
  cachedTokensMax: 4_096,
  /** Cache time of an accepted token, unless the objects that it depends on change. */
  cachedAcceptedMs: 10_000,
  /** Cache time of a refused token, unless the objects that it could depend on change. */
  cachedRefusedMs: 10_000,
  /** Tolerated difference between our clock and the clock of a token's issuer. */
  clockSkewMs: 60_000,
  /** Time that tokens stay valid after the deletion of their object has begun, as the pod may have to shut down. */
  deletionGraceMs: 60_000,
} as const
