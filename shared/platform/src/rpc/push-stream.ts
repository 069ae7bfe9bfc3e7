import type { Stream } from '@orch/core/contracts'
import { Queue } from '../queue.ts'

export interface PushStreamOptions<T = unknown> {
  /** Called once, when either side ends the stream for any reason. */
  readonly onClose?: () => void
  /** Called when the reader has taken all waiting items. */
  readonly onDrain?: () => void
  /** Merges the last waiting item with the next one for a slow reader; undefined keeps both. */
  readonly join?: (waiting: T, item: T) => T | undefined
}

/**
 * A stream into which its producer pushes items. It exists before its reader: items pushed before the first pull wait.
 * The producer bounds the waiting items by `waitingBytes`; no items are dropped silently.
 */
export class PushStream<T> implements Stream<T>, AsyncIterator<T, undefined> {
  readonly #options: PushStreamOptions<T>
  readonly #waiting = new Queue<{ item: T; bytes: number }>()
  #waitingBytes = 0
  #readers: { resolve(result: IteratorResult<T, undefined>): void; reject(error: unknown): void }[] = []
  #ended = false
  #failure: { readonly error: unknown } | undefined

  constructor(options: PushStreamOptions<T> = {}) {
    this.#options = options
  }

  /** The total size of the unread items, as given to `push`. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** True if the stream accepts no more items because it was ended, has failed or was closed by the reader. */
  get ended(): boolean {
    return this.#ended
  }

  push(item: T, sizeBytes = 0): void {
    if (this.#ended) return
    const reader = this.#readers.shift()
    if (reader !== undefined) {
      reader.resolve({ value: item, done: false })
      return
    }
    this.#waitingBytes += sizeBytes
    const last = this.#waiting.at(this.#waiting.length - 1)
    const joined = last === undefined ? undefined : this.#options.join?.(last.item, item)
    if (last === undefined || joined === undefined) {
      this.#waiting.push({ item, bytes: sizeBytes })
      return
    }
    last.item = joined
    last.bytes += sizeBytes
  }

  /** Delivers the waiting items, then ends the stream. */
  end(): void {
    if (this.#ended) return
    this.#finish()
    for (const reader of this.#readers.splice(0)) reader.resolve({ value: undefined, done: true })
  }

  /** Delivers the waiting items, then the error. */
  fail(error: unknown): void {
    if (this.#ended) return
    this.#failure = { error }
    this.#finish()
    const [first, ...others] = this.#readers.splice(0)
    if (first === undefined) return
    this.#failure = undefined
    first.reject(error)
    for (const reader of others) reader.resolve({ value: undefined, done: true })
  }

  /** Drops the waiting items and fails the stream, for a reader that is too slow. */
  abandon(error: unknown): void {
    if (this.#ended) return
    this.#drop()
    this.fail(error)
  }

  /** Closes the stream on behalf of the reader. */
  close(): void {
    this.#drop()
    this.#failure = undefined
    this.end()
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const first = this.#waiting.shift()
    if (first !== undefined) {
      this.#waitingBytes -= first.bytes
      if (this.#waiting.length === 0) this.#options.onDrain?.()
      return Promise.resolve({ value: first.item, done: false })
    }
    if (this.#failure !== undefined) {
      const { error } = this.#failure
      this.#failure = undefined
      return Promise.reject(error)
    }
    if (this.#ended) return Promise.resolve({ value: undefined, done: true })
    return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }))
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.close()
    return Promise.resolve({ value: undefined, done: true })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #drop(): void {
    this.#waiting.clear()
    this.#waitingBytes = 0
  }

  #finish(): void {
    this.#ended = true
    this.#options.onClose?.()
  }
}

/** A stream that fails without output. */
export function failedStream(error: unknown): Stream<never> {
  const parts = new PushStream<never>()
  parts.fail(error)
  return parts
}
