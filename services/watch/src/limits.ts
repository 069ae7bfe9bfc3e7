/** Bounds of the watch service. */
export interface WatchLimits {
  /** Changes kept so that a watch resumes without asking storage. Most watches resume within seconds: a cache, not the history. */
  readonly windowBytesMax: number
  /** Events that wait for one subscriber. Beyond it the subscriber is ended: one that does not read may not hold memory. */
  readonly subscriberBytesMax: number
  /** Events of the past that wait for one subscriber: more are written when it has read these. */
  readonly subscriberAheadBytesMax: number
  /** Changes that wait to be handed out in one go; above it storage's stream is not read on. Bounds the work of one turn. */
  readonly turnChangesMax: number
  /** Joined frames beyond this leave at once, not at the end of the turn. Larger pieces save nothing and wait in every socket. */
  readonly pieceBytesMax: number
  /** Bytes of events that are made or copied in one turn, over all subscribers; dearer work than a copy counts for more. */
  readonly turnBytesMax: number
  /** Longest pause between two attempts to reach storage; the first retry is immediate. */
  readonly retryDelayMsMax: number
}

/** The default bounds. */
export const defaultWatchLimits: WatchLimits = {
  windowBytesMax: 32 * 1024 * 1024,
  subscriberBytesMax: 64 * 1024 * 1024,
  subscriberAheadBytesMax: 1024 * 1024,
  turnChangesMax: 10_000,
  pieceBytesMax: 256 * 1024,
  turnBytesMax: 8 * 1024 * 1024,
  retryDelayMsMax: 5_000,
}

/** The cost of an event in a format other than JSON, as a multiple of copying it: an object of 1 MB takes some 50 ms to read. */
export const formattedCost = 16

/** The cost of evaluating a change by one selection and of writing an event, besides its bytes; in bytes whose copy costs as much. */
export const evaluationCost = 256

/** Traces of one piece of events that are followed further: a burst of writes makes pieces of thousands. */
export const tracesPerPieceMax = 32
