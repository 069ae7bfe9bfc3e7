import {
  type CallContext,
  type Change,
  type EventsOrigin,
  type EventsPart,
  type SubscribeRequest,
  sizeOfEvents,
  type WatchPart,
} from '@orch/core/contracts'
import { serviceUnavailable } from '@orch/core/meta'
import { ended, onAbort, PushStream } from '@orch/platform'
import type { Distributor } from './distributors.ts'
import { partOfValues } from './frames.ts'
import { tracesPerPieceMax } from './limits.ts'

/** One subscription: its start, its position, and the stream of its events. */
export class Subscriber {
  readonly stream: PushStream<WatchPart>
  readonly epoch: string
  readonly distributor: Distributor
  readonly #asked: number
  readonly #bytesMax: number
  readonly #onEnd: (subscriber: Subscriber) => void
  readonly #signal: AbortSignal | undefined
  readonly #ended = new AbortController()
  #sent: number
  #drained: (() => void) | undefined

  constructor(options: {
    request: SubscribeRequest
    context: CallContext
    distributor: Distributor
    bytesMax: number
    /** Waiting events are joined up to this size. */
    pieceBytesMax: number
    onEnd: (subscriber: Subscriber) => void
  }) {
    this.epoch = options.request.epoch
    this.distributor = options.distributor
    this.#asked = options.request.after
    this.#sent = options.request.after
    this.#bytesMax = options.bytesMax
    this.#onEnd = options.onEnd
    this.#signal = options.context.signal
    const { pieceBytesMax } = options
    this.stream = new PushStream({
      onClose: () => this.#end(),
      onDrain: () => this.#drained?.(),
      join: (waiting, part) => joinEvents(waiting, part, pieceBytesMax),
    })
    onAbort(this.#signal, this.#close)
  }

  /** The stream has received every change up to this revision. */
  get sent(): number {
    return this.#sent
  }

  get isEnded(): boolean {
    return this.stream.ended
  }

  /** The stream has not received all of these changes. */
  isBehind(changes: readonly Change[]): boolean {
    return this.#sent < (changes.at(-1)?.revision ?? 0)
  }

  /** Aborts when the subscription ends, for work on its behalf. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  /** Adds frames for this subscription; ends a subscription whose reader is too slow. */
  events(part: EventsPart): void {
    this.#sent = part.last
    this.stream.push(part, sizeOfEvents(part))
    if (this.stream.waitingBytes <= this.#bytesMax) return
    this.stream.abandon(serviceUnavailable(`the subscriber has not read ${this.stream.waitingBytes} bytes of events`))
  }

  /** True if the change removes an object from the selection. */
  isLeftBy(change: Change): boolean {
    const { filter } = this.distributor
    return filter.covers(change.key) && filter.evaluate(change) === 'DELETED'
  }

  /** Every change up to this revision has been sent, but not the position itself. */
  advance(revision: number): void {
    this.#sent = Math.max(this.#sent, revision)
  }

  position(revision: number): void {
    if (revision < this.#sent) return
    this.#sent = revision
    this.stream.push({ kind: 'position', revision })
  }

  expired(oldest: number): void {
    this.stream.push({ kind: 'expired', asked: Math.max(this.#asked, this.#sent), oldest })
    this.stream.end()
  }

  replaced(): void {
    this.stream.push({ kind: 'replaced' })
    this.stream.end()
  }

  /** Resolves when the reader has taken the waiting parts or the subscription has ended. */
  async drained(): Promise<void> {
    if (this.stream.waitingBytes === 0 || this.isEnded) return
    await new Promise<void>((resolve) => {
      this.#drained = resolve
    })
    this.#drained = undefined
  }

  #close = () => this.stream.close()

  #end(): void {
    this.#signal?.removeEventListener('abort', this.#close)
    this.#drained?.()
    this.#ended.abort(ended)
    this.#onEnd(this)
  }
}

/** Events that wait for a busy reader, which then receives them as one piece. */
function joinEvents(waiting: WatchPart, part: WatchPart, bytesMax: number): WatchPart | undefined {
  if (waiting.kind !== 'events' || part.kind !== 'events') return undefined
  const bytes = sizeOfEvents(waiting) + sizeOfEvents(part)
  if (bytes > bytesMax) return undefined
  const origin = joinOrigins(waiting.origin, part.origin)
  const older = [...(waiting.older ?? []), ...(part.older ?? []).map((index) => waiting.count + index)]
  const rest = {
    count: waiting.count + part.count,
    last: part.last,
    ...(origin === undefined ? {} : { origin }),
    ...(older.length === 0 ? {} : { older }),
  }
  if (waiting.values === undefined || part.values === undefined)
    return { kind: 'events', frames: Buffer.concat([waiting.frames, part.frames]), ...rest }
  return partOfValues({ list: [...waiting.values.list, ...part.values.list], bytes }, rest)
}

/** The earlier commit, and the traces of both. */
function joinOrigins(first: EventsOrigin | undefined, second: EventsOrigin | undefined): EventsOrigin | undefined {
  if (first === undefined || second === undefined) return first ?? second
  return { committedMs: first.committedMs, traceparents: [...first.traceparents, ...second.traceparents].slice(0, tracesPerPieceMax) }
}
