/** Bounds of requests to an OpenID provider, each with the reason for its number. */
export const limits = {
  /** Largest document that is read; discovery documents and key sets have some 10 KiB. */
  documentBytesMax: 1024 * 1024,
  /** Longest a document may take, if the request has as long. */
  fetchMs: 10_000,
  /** A provider that did not answer is not asked again before this has passed. */
  pauseMs: 10_000,
  /** Questions for unknown keys in a row: a rotation takes one, tokens with invented keys as many as there are. */
  unknownKeyQuestionsMax: 10,
  /** One more question for an unknown key is allowed each time this has passed. */
  unknownKeyIntervalMs: 1_000,
  /** Keys older than this are asked for again when they are needed, so that a withdrawn key stops counting. */
  keysAgeMsMax: 10 * 60_000,
  /** Keys that are tried on one token; providers have two or three. */
  keysTriedMax: 16,
  /** Largest lead of the provider's clock over ours. */
  clockSkewMs: 60_000,
} as const
