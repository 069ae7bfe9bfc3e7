import type { Stream } from '@orch/core/contracts'

/**
 * A stream over a generator. What must be attached at once is done by the caller before; the generator itself runs as its
 * items are asked for. Closing ends a wait of the generator through the signal it was given.
 */
export function toStream<T>(run: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>, signal: AbortSignal | undefined): Stream<T> {
  const ending = new AbortController()
  const detach = () => signal?.removeEventListener('abort', close)
  const close = () => {
    detach()
    ending.abort()
  }
  if (signal?.aborted) ending.abort()
  else signal?.addEventListener('abort', close, { once: true })
  const generator = run(ending.signal)
  return {
    close,
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        if (ending.signal.aborted) await generator.return()
        const result = await generator.next()
        if (result.done === true) detach()
        return result
      },
      return: async () => {
        close()
        return generator.return()
      },
      throw: async (error: unknown) => {
        close()
        return generator.throw(error)
      },
    }),
  }
}
