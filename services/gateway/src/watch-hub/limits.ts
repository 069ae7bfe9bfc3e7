/** Bounds of the watch hub. */
export interface WatchHubLimits {
  /** Longest pause before a broken subscription is taken up again; the first is about a fiftieth of it. */
  readonly retryDelayMsMax: number
}

export const defaultWatchHubLimits: WatchHubLimits = {
  retryDelayMsMax: 5_000,
}
