/** Allocated bytes per sample, as V8 does by default: a quiet server allocates little in a few seconds. */
export const heapIntervalBytes = 32 * 1024
