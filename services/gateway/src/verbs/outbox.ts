import type { SharedEvents } from '@orch/core/events'
import { Queue } from '@orch/platform'
import type { Exchange } from '../exchange/exchange.ts'
import { limits } from '../limits.ts'
import type { UnreadBytes, UnreadHolder } from './unread-bytes.ts'

/** The dependencies of an outbox. */
export interface OutboxOptions {
  readonly exchange: Pick<Exchange, 'connection' | 'waitingBytes' | 'isClosed' | 'write' | 'writeShared' | 'writeEvents' | 'end'>
  readonly user: string
  readonly unread: Pick<UnreadBytes, 'total' | 'add' | 'remove'>
  readonly monotonic: () => number
  /** Ends a watch whose client does not read. */
  readonly cutOff: () => void
}

/**
 * The queue of one watch's bytes. Its connection gets some bytes at a time, and more after they were sent: a queued item is a reference to shared bytes,
 * while the connection's bytes are encrypted for it separately.
 *
 *   writeShared(900 KB)   → 256 KB of it are written, the rest waits   → taken: the next 256 KB are written …
 */
export class Outbox implements UnreadHolder {
  readonly #options: OutboxOptions
  /** Undefined while empty, as there may be ten thousand watches. */
  #queue: Queue<Waiting> | undefined
  /** Written bytes of the first item. */
  #offset = 0
  /** Waiting bytes, and counted written bytes that were not sent. */
  #unreadBytes = 0
  /** The written part of these. */
  #givenBytes = 0
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

  /** All written and unsent bytes. Few bytes are written without being counted. */
  get waitingBytes(): number {
    return Math.max(this.#unreadBytes, this.#options.exchange.waitingBytes)
  }

  /** Whole events that other watches share; they are not copied while they wait. */
  writeShared(bytes: Uint8Array): void {
    if (this.#isClosed || this.#ends || bytes.length === 0) return
    if (this.#fits(bytes.length)) this.#options.exchange.writeShared(bytes)
    else this.#wait([{ bytes, isShared: true }], bytes.length)
  }

  /** Events without their text, for a client that takes them so. */
  writeEvents(events: SharedEvents): void {
    if (this.#isClosed || this.#ends) return
    if (this.#fits(events.length)) this.#options.exchange.writeEvents?.(events)
    else this.#wait([events], events.length)
  }

  /** Whole events of this watch, in parts. Writes before the end are sent together with it. */
  write(parts: readonly Uint8Array[]): void {
    const bytes = parts.reduce((sum, { length }) => sum + length, 0)
    if (this.#isClosed || this.#ends || bytes === 0) return
    const joined = [...joinedParts(parts)]
    const [first] = joined
    if (first !== undefined && this.#fits(bytes)) this.#options.exchange.write(first.bytes)
    else this.#wait(joined, bytes)
  }

  /** Resolves when everything was sent, or the outbox was closed; undefined if nothing waits. */
  drained(): Promise<void> | undefined {
    if (this.#unreadBytes === 0) return undefined
    this.#drained ??= Promise.withResolvers()
    return this.#drained.promise
  }

  /** Ends the answer when everything was sent. */
  end(): void {
    this.#ends = true
    if (this.#unreadBytes === 0) this.#options.exchange.end()
  }

  /** Drops the waiting bytes, as the exchange has ended. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#queue = undefined
    this.#forget(this.#unreadBytes)
  }

  cutOff(): void {
    this.#options.cutOff()
  }

  /** Maximum bytes written at once without counting, if none wait. */
  #fits(bytes: number): boolean {
    return this.#unreadBytes === 0 && this.#options.exchange.waitingBytes + bytes <= limits.watchPieceBytesMin
  }

  #wait(parts: readonly Waiting[], bytes: number): void {
    const queue = this.#queue ?? new Queue()
    this.#queue = queue
    for (const part of parts) queue.push(part)
    if (this.#unreadBytes === 0) this.#takenMs = this.#options.monotonic()
    this.#unreadBytes += bytes
    this.#give(queue)
    // Counted last, as this may end the watch.
    this.#options.unread.add(this, bytes)
  }

  /** Writes as much as the connection may hold; of a larger item, a piece. */
  #give(queue: Queue<Waiting>): void {
    const { exchange, unread } = this.#options
    const bytesMax = unread.total < limits.unreadBytesRelaxed ? limits.watchPieceBytesMax : limits.watchPieceBytesMin
    for (let item = queue.at(0); item !== undefined; item = queue.at(0)) {
      const room = bytesMax - exchange.waitingBytes
      const start = this.#offset
      const left = ('list' in item ? item.length : item.bytes.length) - start
      if (left > room && this.#givenBytes > 0) return
      const size = 'list' in item ? left : Math.min(left, Math.max(room, limits.watchPieceBytesMin))
      this.#offset = size === left ? 0 : start + size
      if (size === left) queue.shift()
      this.#givenBytes += size
      const taken = () => this.#taken(size)
      if ('list' in item) exchange.writeEvents?.(item, taken)
      else if (item.isShared && size === item.bytes.length) exchange.writeShared(item.bytes, taken)
      else exchange.write(item.bytes.subarray(start, start + size), taken)
    }
    this.#queue = undefined
  }

  #taken(bytes: number): void {
    if (this.#isClosed) return
    this.#takenMs = this.#options.monotonic()
    this.#givenBytes -= bytes
    this.#forget(bytes)
    if (this.#queue !== undefined) this.#give(this.#queue)
    else if (this.#ends && this.#unreadBytes === 0) this.#options.exchange.end()
  }

  /** Reports bytes that no longer wait. */
  #forget(bytes: number): void {
    this.#unreadBytes -= bytes
    if (bytes > 0) this.#options.unread.remove(this, bytes)
    if (this.#unreadBytes > 0) return
    this.#drained?.resolve()
    this.#drained = undefined
  }
}

/** Bytes in the queue, or events without their text, which are written together. */
type Waiting = WaitingBytes | SharedEvents

interface WaitingBytes {
  readonly bytes: Uint8Array
  /** True if other watches share the bytes. */
  readonly isShared: boolean
}

/** Consecutive small parts become one; large ones stay references. */
function* joinedParts(parts: readonly Uint8Array[]): Generator<WaitingBytes, void, undefined> {
  let small: Uint8Array[] = []
  let bytes = 0
  const one = (joined: Uint8Array): WaitingBytes => ({ bytes: joined, isShared: false })
  for (const part of parts) {
    if (bytes > 0 && bytes + part.length > limits.watchPieceBytesMin) {
      yield one(Buffer.concat(small, bytes))
      small = []
      bytes = 0
    }
    if (part.length > limits.watchPieceBytesMin) {
      yield one(part)
      continue
    }
    small.push(part)
    bytes += part.length
  }
  if (bytes > 0) yield one(Buffer.concat(small, bytes))
}
