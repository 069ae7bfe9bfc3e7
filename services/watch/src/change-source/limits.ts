/** Bounds of the change stream. */
export interface ChangeSourceLimits {
  /** After this silence of the publisher, changes come from storage. The publisher sends a message at least every 0.4 s. */
  readonly silenceMsMax: number
  /** After this silence the source looks for the stream again: an operator may have recreated it. */
  readonly reopenAfterMs: number
  /** Interval of checks for silence. */
  readonly checkIntervalMs: number
  /** The interval of requests for storage's revision: the last answer's revision must have arrived by now. */
  readonly tailCheckIntervalMs: number
  /** The waiting messages of one reader. Above this number they are dropped, and the reader continues with storage at its own pace. */
  readonly waitingBytesMax: number
  /** Positions that follow the last one sooner are dropped, because each wakes every watcher. One a second is promised. */
  readonly positionIntervalMs: number
  /** The longest pause between two attempts to follow the stream. */
  readonly retryDelayMsMax: number
}

/** The default bounds. */
export const defaultChangeSourceLimits: ChangeSourceLimits = {
  silenceMsMax: 1_000,
  reopenAfterMs: 3_000,
  checkIntervalMs: 250,
  tailCheckIntervalMs: 2_000,
  waitingBytesMax: 16 * 1024 * 1024,
  positionIntervalMs: 500,
  retryDelayMsMax: 5_000,
}
