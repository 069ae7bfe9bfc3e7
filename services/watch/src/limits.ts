/** Bounds of the watch service. */
export type WatchLimits = typeof defaultWatchLimits

/** The default bounds. */
export const defaultWatchLimits = {
  /** Bytes of recent changes in memory, from which a watch resumes without a request to storage. Most watches resume within seconds. */
  windowBytesMax: 32 * 1024 * 1024,
  /** Maximum bytes of events waiting for one subscriber. Beyond it the subscription ends, so that a slow reader cannot use up memory. */
  subscriberBytesMax: 64 * 1024 * 1024,
  /** Maximum bytes of past events waiting for one subscriber; reading them lets the service send more. */
  subscriberAheadBytesMax: 1024 * 1024,
  /** Maximum number of changes waiting for one delivery, which bounds the work of one turn. Beyond it storage's stream is paused. */
  turnChangesMax: 10_000,
  /** Joined frames above this size are sent at once, not at the end of the turn. Larger pieces save nothing and use memory in every socket. */
  pieceBytesMax: 256 * 1024,
  /** Maximum bytes of events created or copied in one turn for all subscribers; more expensive work counts for more. */
  turnBytesMax: 8 * 1024 * 1024,
  /** Maximum pause between two attempts to reach storage; the first retry is immediate. */
  retryDelayMsMax: 5_000,
}

/** The cost of an event in a format other than JSON, as a multiple of a copy: an object of 1 MB takes about 50 ms to read. */
export const formattedCost = 16

/** The cost of evaluating a change for one selection and of writing an event without its bytes, as a number of copied bytes. */
export const evaluationCost = 256

/** The number of traces that one piece of events continues: a burst of writes makes pieces of thousands. */
export const tracesPerPieceMax = 32
