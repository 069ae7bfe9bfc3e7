import { Queue } from '@orch/platform'
import type { Exchange } from '../exchange/exchange.ts'
import { limits } from '../limits.ts'
import type { UnreadBytes, UnreadHolder } from './unread-bytes.ts'

/** What an outbox is made from. */
export interface OutboxOptions {
  readonly exchange: Pick<Exchange, 'connection' | 'waitingBytes' | 'isClosed' | 'write' | 'writeShared' | 'end'>
  readonly user: string
  readonly unread: Pick<UnreadBytes, 'total' | 'add' | 'remove'>
  readonly monotonic: () => number
  /** Ends the watch, which is one of those whose clients take nothing. */
  readonly cutOff: () => void
}

/**
 * What one watcher is to get, in order. Its connection is given a piece at a time, and the next one when that was taken: what waits
 * here is a reference to bytes that others share, and what a connection was given is encrypted for it alone.
 *
 *   writeShared(900 KB)   → piece 1 of 29 is written, the rest waits   → taken: piece 2 is written …
 */
export class Outbox implements UnreadHolder {
  readonly #options: OutboxOptions
  /** Absent while nothing waits: there may be ten thousand watches. */
  #queue: Queue<Uint8Array> | undefined
  /** Bytes of the first in the queue that were given. */
  #offset = 0
  /** Bytes of the piece that was given and not taken yet. */
  #pieceBytes = 0
  #unreadBytes = 0
  #takenMs = 0
  #drained: PromiseWithResolvers<void> | undefined
  #ends = false
  #isClosed = false

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  get connection(): object {
    return this.#options.exchange.connection
  }

  get user(): string {
    return this.#options.user
  }

  get unreadBytes(): number {
    return this.#unreadBytes
  }

  get takenMs(): number {
    return this.#takenMs
  }

  /** All that was written and not taken. */
  get waitingBytes(): number {
    return Math.max(this.#unreadBytes, this.#unreadBytes - this.#pieceBytes + this.#options.exchange.waitingBytes)
  }

  /** Whole events that other watchers are given, too; they are not copied while they wait. */
  writeShared(bytes: Uint8Array): void {
    if (this.#isClosed || this.#ends || bytes.length === 0) return
    if (this.#fits(bytes.length)) this.#options.exchange.writeShared(bytes)
    else this.#wait([bytes], bytes.length)
  }

  /** Whole events of this watcher, in parts. What is written before the end leaves together with it. */
  write(parts: readonly Uint8Array[]): void {
    const bytes = parts.reduce((sum, { length }) => sum + length, 0)
    if (this.#isClosed || this.#ends || bytes === 0) return
    const [first] = parts
    if (!this.#fits(bytes)) this.#wait(parts, bytes)
    else this.#options.exchange.write(parts.length === 1 && first !== undefined ? first : Buffer.concat(parts, bytes))
  }

  /** Resolves when all has been taken, or the outbox was closed; undefined: nothing waits. */
  drained(): Promise<void> | undefined {
    if (this.#unreadBytes === 0) return undefined
    this.#drained ??= Promise.withResolvers()
    return this.#drained.promise
  }

  /** Ends the answer when all has been taken. */
  end(): void {
    this.#ends = true
    if (this.#unreadBytes === 0) this.#options.exchange.end()
  }

  /** Forgets what waits: the exchange is over. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#queue = undefined
    this.#forget(this.#unreadBytes)
  }

  cutOff(): void {
    this.#options.cutOff()
  }

  /** What is this little, behind nothing that waits, is given at once and not counted. */
  #fits(bytes: number): boolean {
    return this.#unreadBytes === 0 && this.#options.exchange.waitingBytes + bytes <= limits.watchPieceBytesMin
  }

  #wait(parts: readonly Uint8Array[], bytes: number): void {
    this.#queue ??= new Queue()
    for (const part of parts) this.#queue.push(part)
    if (this.#unreadBytes === 0) this.#takenMs = this.#options.monotonic()
    this.#unreadBytes += bytes
    if (this.#pieceBytes === 0) this.#give()
    // Counted last: the watch may be ended by it.
    this.#options.unread.add(this, bytes)
  }

  #give(): void {
    const { exchange, unread } = this.#options
    const queue = this.#queue
    if (queue === undefined) return
    const first = queue.at(0)
    const piece = this.#take(queue, unread.total < limits.unreadBytesRelaxed ? limits.watchPieceBytesMax : limits.watchPieceBytesMin)
    this.#pieceBytes = piece.length
    if (queue.length === 0) this.#queue = undefined
    if (piece === first) exchange.writeShared(piece, this.#taken)
    else exchange.write(piece, this.#taken)
  }

  /** The next piece. Only small items, and the ends of large ones, are copied. */
  #take(queue: Queue<Uint8Array>, bytesMax: number): Uint8Array {
    const parts: Uint8Array[] = []
    let bytes = 0
    for (let item = queue.at(0); item !== undefined && bytes < bytesMax; item = queue.at(0)) {
      const end = Math.min(item.length, this.#offset + bytesMax - bytes)
      const part = this.#offset === 0 && end === item.length ? item : item.subarray(this.#offset, end)
      parts.push(part)
      bytes += part.length
      this.#offset = end === item.length ? 0 : end
      if (this.#offset === 0) queue.shift()
    }
    const [first] = parts
    return parts.length === 1 && first !== undefined ? first : Buffer.concat(parts, bytes)
  }

  readonly #taken = (): void => {
    const bytes = this.#pieceBytes
    this.#pieceBytes = 0
    if (this.#isClosed) return
    this.#takenMs = this.#options.monotonic()
    this.#forget(bytes)
    if (this.#queue !== undefined) this.#give()
    else if (this.#ends) this.#options.exchange.end()
  }

  /** So many bytes wait no longer. */
  #forget(bytes: number): void {
    this.#unreadBytes -= bytes
    if (bytes > 0) this.#options.unread.remove(this, bytes)
    if (this.#unreadBytes > 0) return
    this.#drained?.resolve()
    this.#drained = undefined
  }
}
