export interface WatchHubLimits {
  /** Maximum delay before a broken subscription is resumed; the first is about a fiftieth of it. */
  readonly retryDelayMsMax: number
  /** Size of a piece after which the next one waits for another turn, so that a long history does not fill a socket at once. */
  readonly breathBytesMin: number
  /** Maximum bytes delivered to all clients in one turn: they are encrypted for each at once, at some 5 ms a megabyte. */
  readonly turnBytesMax: number
  /** Maximum bytes of the turn in which events arrive, after which their writers are answered: about 2 ms. The rest follows in later turns. */
  readonly firstTurnBytesMax: number
}

export const defaultWatchHubLimits: WatchHubLimits = {
  retryDelayMsMax: 5_000,
  breathBytesMin: 64 * 1024,
  turnBytesMax: 4 * 1024 * 1024,
  firstTurnBytesMax: 512 * 1024,
}

/** Maximum watches linked to the span of a delivery, which thousands may share. */
export const linkedWatchesMax = 8

/** The cost of one write to a socket besides its bytes, in equivalent bytes: a system call and a TLS record. */
export const bytesPerWrite = 4 * 1024
