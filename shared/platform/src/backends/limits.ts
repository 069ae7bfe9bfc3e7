/** Longest that one step of fetching a package may take. */
export const backendFetchTimeoutMs = 60_000

/** After a package could not be fetched, the next attempt is made no sooner than this. */
export const backendRetryAfterMs = 600_000

/** Longest that a started program may take until it answers; a loaded machine needs seconds for a first election. */
export const backendReadyTimeoutMs = 30_000

/** Interval of checks that a started program is ready. */
export const backendPollIntervalMs = 25

/** Longest that a program may take to end when asked to; then it is killed. */
export const backendStopTimeoutMs = 5_000

/** The first candidate for free ports: above the well-known servers, below the ports that systems assign by themselves and NodePorts. */
export const firstFreePort = 15_000
export const lastFreePort = 29_999

/** Into how many parts they are divided for processes that look for them at the same time. */
export const freePortParts = 4

/** Ports that may turn out to be taken before the search for free ones ends. */
export const freePortAttemptsMax = 1_000
