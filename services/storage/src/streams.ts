import type { Stream } from '@orch/core/contracts'
import { ended, onAbort } from '@orch/platform'

/**
 * A stream over a generator. The generator runs only while items are requested, so the caller must attach everything else before. Closing the stream
 * aborts the signal of the generator.
 */
export function toStream<T>(
  run: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>,
  ...signals: readonly (AbortSignal | undefined)[]
): Stream<T> {
  const ending = new AbortController()
  const detach = () => {
    for (const signal of signals) signal?.removeEventListener('abort', close)
  }
  const close = () => {
    detach()
    ending.abort(ended)
  }
  for (const signal of signals) onAbort(signal, close)
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
