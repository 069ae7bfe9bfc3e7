/** Limits of requests to an OpenID provider, each with the reason for its number. */
export const limits = {
  /** Maximum bytes of a document; discovery documents and key sets have some 10 KiB. */
  documentBytesMax: 1024 * 1024,
  /** Maximum duration of a document request, which serves the tokens of all requests. */
  fetchMs: 10_000,
  /** Delay before a provider that did not answer is asked again. */
  pauseMs: 10_000,
  /** Number of consecutive requests for unknown keys: a rotation needs one, tokens with invented keys cause many. */
  unknownKeyQuestionsMax: 10,
  /** Time after which another request for an unknown key is allowed. */
  unknownKeyIntervalMs: 1_000,
  /** Age after which keys are requested again when they are needed, so that a withdrawn key becomes invalid. */
  keysAgeMsMax: 10 * 60_000,
  /** Number of keys tried on one token; providers have two or three. */
  keysTriedMax: 16,
  /** Largest lead of the provider's clock over ours. */
  clockSkewMs: 60_000,
} as const
