/** Bounds of the publisher. */
export interface PublisherLimits {
  /** Bytes of one message: NATS accepts 1 MiB, and each follower holds a message whole. */
  readonly messageBytesMax: number
  /** A larger change becomes a reference. With its other contents it still fits a message. */
  readonly changeBytesMax: number
  /** Unacknowledged messages: enough for a round trip at full speed. */
  readonly inFlightMax: number
  /** The interval of the publisher's messages; followers read from storage after 1 s of silence. */
  readonly heartbeatMs: number
  /** After this silence of storage the publisher no longer confirms its position; storage sends its position once a second. */
  readonly storageSilenceMsMax: number
  /** The longest pause between two attempts. */
  readonly retryDelayMsMax: number
  /** Successive failed attempts after which the publisher logs another: about once a minute. */
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
