/** Longest wait for an answer of NATS. It answers in milliseconds; if it takes longer, changes are read from storage in the meantime. */
export const natsTimeoutMs = 2_000

/** A silent connection is asked this often whether it still lives, and given up at the second question without an answer. */
export const natsPingIntervalMs = 2_000

/** A doubled message is recognized this long. Far above the time in which a publisher finds out what became of one. */
export const natsDuplicatesWindowMs = 120_000

/** A follower that has gone without a word is forgotten after this time. */
export const natsFollowerIdleMs = 30_000

/** Bytes that the stream holds. Followers read its end; what lies further back comes from storage. */
export const changeStreamBytesMaxDefault = 128 * 1024 * 1024

/** Age of what the stream holds: as long as storage's own window. */
export const changeStreamAgeMsMaxDefault = 300_000
