/** Longest wait for an answer of NATS. It answers in milliseconds; if it takes longer, changes are read from storage in the meantime. */
export const natsTimeoutMs = 2_000

/** A silent connection is asked this often whether it still lives, and given up at the second question without an answer. */
export const natsPingIntervalMs = 2_000

/** A doubled message is recognized this long. Far above the time in which a publisher learns the outcome of one. */
export const natsDuplicatesWindowMs = 120_000

/** A follower that left silently is forgotten after this time. */
export const natsFollowerIdleMs = 30_000

/** Bytes of the stream. Followers read its end; earlier changes come from storage. */
export const changeStreamBytesMaxDefault = 128 * 1024 * 1024

/** Age of the stream's messages: as long as storage's own window. */
export const changeStreamAgeMsMaxDefault = 300_000
