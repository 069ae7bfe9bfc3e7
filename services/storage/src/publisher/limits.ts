/** Bounds of the publisher. */
export interface PublisherLimits {
  /** Bytes of one message: NATS takes 1 MiB, and each follower holds a message whole. */
  readonly messageBytesMax: number
  /** A larger change is sent as a reference. With its other contents it still fits a message. */
  readonly changeBytesMax: number
  /** Messages that NATS has not acknowledged: enough for a round trip at full speed. */
  readonly inFlightMax: number
  /** Interval of the publisher's messages; followers turn to storage after 1 s of silence. */
  readonly heartbeatMs: number
  /** A storage that has been silent for so long is not vouched for: it sends its position once a second. */
  readonly storageSilenceMsMax: number
  /** Longest pause between two attempts. */
  readonly retryDelayMsMax: number
  /** Failed attempts in a row after which one is logged again: about once a minute. */
  readonly attemptsPerLine: number
}

/** The default bounds. */
export const defaultPublisherLimits: PublisherLimits = {
  messageBytesMax: 256 * 1024,
  changeBytesMax: 512 * 1024,
  inFlightMax: 256,
  heartbeatMs: 400,
  storageSilenceMsMax: 2_500,
  retryDelayMsMax: 5_000,
  attemptsPerLine: 15,
}
