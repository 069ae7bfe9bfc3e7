/** One of so many bytes that are allocated is looked at, as V8 does by default: a quiet server allocates little in a few seconds. */
export const heapIntervalBytes = 32 * 1024
