/** Bounds of the watch service. */
export interface WatchLimits {
  /** Changes kept so that a watch resumes without a request to storage. Most watches resume within seconds: this is a cache, not the history. */
  readonly windowBytesMax: number
  /** The events that may wait for one subscriber. Above this the service ends the subscription: a slow reader must not use up memory. */
  readonly subscriberBytesMax: number
  /** The past events that may wait for one subscriber; the service writes more when it has read these. */
  readonly subscriberAheadBytesMax: number
  /** The changes that may wait for one delivery; above this the service pauses storage's stream. Bounds the work of one turn. */
  readonly turnChangesMax: number
  /** Joined frames above this size leave at once, not at the end of the turn. Larger pieces save nothing and wait in every socket. */
  readonly pieceBytesMax: number
  /** The bytes of events made or copied in one turn for all subscribers; more expensive work counts for more. */
  readonly turnBytesMax: number
  /** The longest pause between two attempts to reach storage; the first retry is immediate. */
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

/** The cost of an event in a format other than JSON, as a multiple of a copy: an object of 1 MB takes about 50 ms to read. */
export const formattedCost = 16

/** The cost of evaluating a change for one selection and of writing an event without its bytes, as a number of copied bytes. */
export const evaluationCost = 256

/** The number of traces that one piece of events continues: a burst of writes makes pieces of thousands. */
export const tracesPerPieceMax = 32
