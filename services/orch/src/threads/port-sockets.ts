/**
 * Sockets of each thread at the port. The kernel gives every socket as many connections; the first thread, which also holds the objects,
 * takes two for each three of another one.
 */
export const portSockets = { first: 2, further: 3 } as const
