/** Bounds of the watch hub. */
export interface WatchHubLimits {
  /** Longest pause before a broken subscription is taken up again; the first is about a fiftieth of it. */
  readonly retryDelayMsMax: number
  /** After a piece of this size the next one waits for the next turn, so that a long history is not piled up in a socket at once. */
  readonly breathBytesMin: number
  /** Bytes that all clients together are given in one turn: they are encrypted for each of them at once, at some 5 ms a megabyte. */
  readonly turnBytesMax: number
  /** The same for the turn of the events' arrival, at whose end their writers are answered: some 2 ms. The rest follows in the next turns. */
  readonly firstTurnBytesMax: number
}

export const defaultWatchHubLimits: WatchHubLimits = {
  retryDelayMsMax: 5_000,
  breathBytesMin: 64 * 1024,
  turnBytesMax: 4 * 1024 * 1024,
  firstTurnBytesMax: 512 * 1024,
}

/** Watches that the span of a delivery is linked to: thousands may share it, and a few show the way. */
export const linkedWatchesMax = 8

/** The cost of one write to a socket besides its bytes, in bytes that cost as much: a call of the system and a record of TLS. */
export const bytesPerWrite = 4 * 1024
