import { rpcLimits } from './limits.ts'

/** The end of a stream to which batches are written, as in Node's streams. */
export interface BatchSink<T> {
  /** False: wait for `drain` before the next write. */
  write(frame: { readonly items: readonly T[] }): boolean
  once(event: 'drain', listener: () => void): unknown
}

interface Queued<T> {
  readonly item: T
  readonly bytes: number
  readonly onSent: (() => void) | undefined
}

/**
 * Combines the items of one turn of the event loop into few messages.
 *
 *   push a, push b, …      the turn ends      write [a b …]
 *   the other side does not read: write → false, then no writes until `drain`, and `waitingBytes` grows
 */
export class Batches<T> {
  readonly #sink: BatchSink<T>
  readonly #onDrain: () => void
  #queue: Queued<T>[] = []
  #waitingBytes = 0
  #isScheduled = false
  #isBlocked = false
  #isEnded = false

  constructor(sink: BatchSink<T>, onDrain: () => void = () => {}) {
    this.#sink = sink
    this.#onDrain = onDrain
  }

  /** Bytes that were pushed and not yet written. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** `onSent` is called when the item has been sent and may arrive. */
  push(item: T, bytes: number, onSent?: () => void): void {
    if (this.#isEnded) return
    this.#queue.push({ item, bytes, onSent })
    this.#waitingBytes += bytes
    this.#schedule()
  }

  /** Withdraws an item that was not sent yet; false if it is too late. */
  retract(item: T): boolean {
    const index = this.#queue.findIndex((queued) => queued.item === item)
    if (index === -1) return false
    this.#waitingBytes -= this.#queue[index]?.bytes ?? 0
    this.#queue.splice(index, 1)
    return true
  }

  /** Ends the stream. */
  end(): void {
    this.#isEnded = true
    this.#queue = []
    this.#waitingBytes = 0
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isBlocked) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    while (this.#queue.length > 0 && !this.#isBlocked) {
      const batch = this.#takeBatch()
      const hasRoom = this.#sink.write({ items: batch.map(({ item }) => item) })
      for (const { onSent } of batch) onSent?.()
      if (!hasRoom) this.#block()
    }
    if (this.#queue.length === 0) this.#onDrain()
  }

  #block(): void {
    this.#isBlocked = true
    this.#sink.once('drain', () => {
      this.#isBlocked = false
      this.#flush()
    })
  }

  #takeBatch(): Queued<T>[] {
    let bytes = 0
    let count = 0
    for (const queued of this.#queue) {
      if (count > 0 && bytes + queued.bytes > rpcLimits.batchBytesMax) break
      bytes += queued.bytes
      count += 1
    }
    this.#waitingBytes -= bytes
    return this.#queue.splice(0, count)
  }
}
