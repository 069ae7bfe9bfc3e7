import type { Stream } from '@orch/core/contracts'
import { Listeners, type Log, PushStream } from '@orch/platform'

/** A value that may change, and its listeners. */
interface Source<T> {
  readonly current: T
  /** Calls the listener after each change. Returns a function that removes the listener. */
  listen(listener: (value: T) => void): () => void
}

/** The present value of a source, then each value that replaces it. */
export function streamOf<T>(source: Source<T>): Stream<{ readonly value: T }> {
  const stream = new PushStream<{ readonly value: T }>({ onClose: () => unlisten() })
  const unlisten = source.listen((value) => stream.push({ value }))
  stream.push({ value: source.current })
  return stream
}

/** A source that another thread streams; it begins with the first value. */
export async function sourceOf<T>(stream: Stream<{ readonly value: T }>, log: Log): Promise<Source<T> & { close(): void }> {
  const values = stream[Symbol.asyncIterator]()
  const first = await values.next()
  if (first.done === true) throw new Error('another thread has ended before it has sent the first value')
  let current = first.value.value
  const listeners = new Listeners<T>()
  const follow = async () => {
    for (let next = await values.next(); next.done !== true; next = await values.next()) {
      current = next.value.value
      listeners.call(current)
    }
  }
  follow().catch((error: unknown) => log.debug({ err: error }, 'another thread has ended'))
  return {
    get current() {
      return current
    },
    listen: (listener) => listeners.add(listener),
    close: () => stream.close(),
  }
}
