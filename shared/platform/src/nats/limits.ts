/** Maximum wait for an answer of NATS, which normally takes milliseconds. After it, changes are read from storage meanwhile. */
export const natsTimeoutMs = 2_000

/** Interval of pings on a silent connection. It is closed at the second unanswered ping. */
export const natsPingIntervalMs = 2_000

/** Time within which a duplicate message is recognized, far more than a publisher waits for the outcome of a message. */
export const natsDuplicatesWindowMs = 120_000

/** Time after which a follower that left silently is removed. */
export const natsFollowerIdleMs = 30_000

/** Maximum size of the stream. Followers read its end; earlier changes come from storage. */
export const changeStreamBytesMaxDefault = 128 * 1024 * 1024

/** Maximum age of the stream's messages, equal to storage's own window. */
export const changeStreamAgeMsMaxDefault = 300_000
