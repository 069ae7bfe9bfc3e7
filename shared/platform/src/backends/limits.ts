/** Maximum time for one step of fetching a package. */
export const backendFetchTimeoutMs = 60_000

/** Minimum time between two attempts to fetch a package. */
export const backendRetryAfterMs = 600_000

/** Maximum time until a started program answers; a loaded machine needs seconds for a first election. */
export const backendReadyTimeoutMs = 30_000

/** Interval of checks whether a started program is ready. */
export const backendPollIntervalMs = 25

/** Maximum time for a program to end after SIGTERM; then it is killed. */
export const backendStopTimeoutMs = 5_000

/** Maximum pause before a program that ends again and again is started once more. */
export const restartDelayMsMax = 10_000

/** The first candidate for free ports: above well-known ports, below ephemeral ports and NodePorts. */
export const firstFreePort = 15_000
export const lastFreePort = 29_999

/** Number of ranges into which free ports are divided, for processes that search at the same time. */
export const freePortParts = 4

/** Number of ports that may be taken before the search for free ports ends. */
export const freePortAttemptsMax = 1_000
