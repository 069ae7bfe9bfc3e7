/** Bounds of the change stream. */
export interface ChangeSourceLimits {
  /** After so long without a word from the publisher changes are read from storage. It says something at least every 0.4 s. */
  readonly silenceMsMax: number
  /** After so long without a word the stream is looked for anew: it may have been made again. */
  readonly reopenAfterMs: number
  /** Interval of checks for silence. */
  readonly checkIntervalMs: number
  /** Interval of requests for storage's revision: its last answer must have arrived by now. */
  readonly tailCheckIntervalMs: number
  /** Waiting messages of one reader. Beyond it they are dropped, and the reader continues with storage, at its own pace. */
  readonly waitingBytesMax: number
  /** Positions that come sooner after the last one are not passed on: each one wakes every watcher. One a second is promised. */
  readonly positionIntervalMs: number
  /** Longest pause between two attempts to follow the stream. */
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
