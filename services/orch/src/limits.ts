/** Longest that watches are spread over when a gateway stops, so that not all clients come back at once; systemd waits 90 s. */
export const watchGraceMs = 10_000
