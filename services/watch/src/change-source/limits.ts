/** Bounds of the change stream. */
export type ChangeSourceLimits = typeof defaultChangeSourceLimits

/** The default bounds. */
export const defaultChangeSourceLimits = {
  /** After this silence of the publisher, changes come from storage. The publisher sends a message at least every 0.4 s. */
  silenceMsMax: 1_000,
  /** After this silence the source looks for the stream again: an operator may have recreated it. */
  reopenAfterMs: 3_000,
  /** Interval of checks for silence. */
  checkIntervalMs: 250,
  /** The interval of requests for storage's revision: the last answer's revision must have arrived by now. */
  tailCheckIntervalMs: 2_000,
  /** The waiting messages of one reader. Above this number they are dropped, and the reader continues with storage at its own pace. */
  waitingBytesMax: 16 * 1024 * 1024,
  /** Published positions within this time after the last one are dropped, because each wakes every watcher. */
  positionIntervalMs: 500,
  /** The longest pause between two attempts to follow the stream. */
  retryDelayMsMax: 5_000,
}
