/** Bounds of the publisher. */
export type PublisherLimits = typeof defaultPublisherLimits

/** The default bounds. */
export const defaultPublisherLimits = {
  /** Bytes of one message: NATS accepts 1 MiB, and each follower holds a message whole. */
  messageBytesMax: 256 * 1024,
  /** A larger change becomes a reference. With its other contents it still fits a message. */
  changeBytesMax: 512 * 1024,
  /** Unacknowledged messages: enough for a round trip at full speed. */
  inFlightMax: 256,
  /** The interval of the publisher's messages; followers read from storage after 1 s of silence. */
  heartbeatMs: 400,
  /** If a stream lacks changes and gets no part for this time, the publisher no longer confirms its position. */
  storageSilenceMsMax: 2_500,
  /** The longest pause between two attempts. */
  retryDelayMsMax: 5_000,
  /** Successive failed attempts after which the publisher logs another: about once a minute. */
  attemptsPerLine: 15,
}
