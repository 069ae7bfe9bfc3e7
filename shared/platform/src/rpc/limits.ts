/** Bounds of what travels between services. */
export const rpcLimits = {
  /** One message. The largest is a turn's worth of changes or events to one subscriber; a request's body is at most 3 MiB. */
  messageBytesMax: 128 * 1024 * 1024,
  /** Headers and trailers of one call. A Status that does not fit leaves its details behind. */
  metadataBytesMax: 48 * 1024,
  /** Longest pause before a lost connection is tried again. Short, as the callee restarts within seconds. */
  reconnectDelayMsMax: 2_000,
} as const
