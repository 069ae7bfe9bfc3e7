/** How long a process may take to shut down when its parent is gone: there is no client left to serve. */
export const orphanStopMs = 5_000

/** Longest that controllers wait for a connection to a gateway before they try the next one: less than the 10 s in which a lease is renewed. */
export const gatewayConnectMsMax = 3_000

/** Silence on a watch of controllers after which its connection is taken for dead: gateways send a bookmark each minute. */
export const gatewaySilenceMsMax = 150_000

/** How often a process that is starting wakes up for nothing but being alive: as seldom as a timer can. */
export const stayAliveMs = 2 ** 31 - 1

/** Shortest age of what the stream of changes holds: a publisher that comes back finds the last message it sent. */
export const changeStreamAgeMsMin = 60_000
