/** Calls the listener once, when the signal is aborted, or at once for an aborted signal. `removeEventListener` removes it. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): void {
  if (signal?.aborted) listener()
  else signal?.addEventListener('abort', listener, { once: true })
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => onAbort(signal, resolve))
}

/** Settles like the work, or rejects with the signal's reason when the signal is aborted first. A later result of the work is ignored. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const end = () => reject(signal?.reason)
  onAbort(signal, end)
  try {
    return await Promise.race([work, promise])
  } finally {
    signal?.removeEventListener('abort', end)
  }
}
