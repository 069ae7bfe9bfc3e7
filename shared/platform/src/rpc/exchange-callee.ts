import { type handleBidiStreamingCall, type ServerDuplexStream, status } from '@grpc/grpc-js'
import type { CallContext, ServiceRole } from '@orch/core/contracts'
import { badRequest, failed, internal, serviceUnavailable } from '@orch/core/meta'
import { Batches } from './batches.ts'
import { callerOf } from './credentials.ts'
import type { CallFrame, CallItem, ReplyFrame, ReplyItem } from './frames.ts'
import { rpcLimits } from './limits.ts'
import type { ServedMethod, ServeOptions } from './served.ts'
import { UnderWay } from './under-way.ts'
import { toWireFailure } from './wire-failure.ts'

type Call = CallItem & { readonly kind: 'call' }
type ExchangeStream = ServerDuplexStream<CallFrame, ReplyFrame>

/** The approximate cost of an item besides its payload. */
const itemBytes = 96

/** Answers the calls of streams of batches. */
export function answerBatches(
  methods: ReadonlyMap<string, ServedMethod>,
  options: ServeOptions,
): handleBidiStreamingCall<CallFrame, ReplyFrame> {
  return (stream) => void new ExchangeCallee(stream, methods, options)
}

/** The called side of a stream of batches. Answers leave in the order in which they are ready. */
class ExchangeCallee {
  readonly #stream: ExchangeStream
  readonly #methods: ReadonlyMap<string, ServedMethod>
  readonly #options: ServeOptions
  readonly #role: ServiceRole | undefined
  readonly #batches: Batches<ReplyItem>
  readonly #open = new Map<number, UnderWay>()
  readonly #ended: () => void
  #isFinishing = false
  #isEnded = false

  constructor(stream: ExchangeStream, methods: ReadonlyMap<string, ServedMethod>, options: ServeOptions) {
    this.#stream = stream
    this.#methods = methods
    this.#options = options
    this.#role = callerOf(stream)
    this.#batches = new Batches(stream, () => this.#onDrain())
    this.#ended = options.departure.join(() => this.#batches.push({ kind: 'leaving' }, itemBytes))
    stream.on('data', ({ items }: CallFrame) => this.#take(items))
    stream.on('end', () => {
      this.#isFinishing = true
      this.#endWhenDone()
    })
    stream.on('cancelled', () => this.#abandon())
    stream.on('error', () => this.#abandon())
  }

  #take(items: readonly CallItem[]): void {
    for (const item of items) {
      switch (item.kind) {
        case 'call':
          void this.#answer(item)
          break
        case 'cancel':
          this.#open.get(item.id)?.cancel()
          break
      }
    }
  }

  async #answer(item: Call): Promise<void> {
    if (this.#open.has(item.id)) {
      this.#stream.emit('error', { code: status.INVALID_ARGUMENT, details: `the call ${item.id} is under way already` })
      return
    }
    const underWay = new UnderWay()
    const done = this.#options.work.begin()
    if (this.#open.size >= rpcLimits.exchangeCallsMax) {
      const overloaded = serviceUnavailable('too many calls wait for this service', { retryAfterSeconds: 1 })
      this.#reply({ kind: 'failure', id: item.id, ...toWireFailure(overloaded) })
    } else {
      this.#open.set(item.id, underWay)
      this.#reply(await this.#run(item, underWay))
      this.#open.delete(item.id)
    }
    done()
    if (this.#isFinishing) this.#endWhenDone()
  }

  async #run(item: Call, underWay: UnderWay): Promise<ReplyItem> {
    const { id, timeoutMs } = item
    const method = this.#methods.get(item.method)
    const observation = method?.observe(item)
    const late = timeoutMs === undefined ? undefined : this.#options.clock.after(timeoutMs, () => underWay.cancel())
    try {
      if (method === undefined) throw failed(501, '', `the method ${JSON.stringify(item.method)} is not offered in batches`)
      const request = decode(method, item.payload)
      method.admit(this.#role, request)
      const answer = await underWay.answer(method.call(request, contextOf(underWay, item, observation?.traceparent)))
      const payload = method.response.encode(answer)
      if (payload.length > rpcLimits.exchangePayloadBytesMax) throw internal('an answer is too large')
      observation?.end()
      return { kind: 'answer', id, payload }
    } catch (error) {
      observation?.end(error)
      return { kind: 'failure', id, ...toWireFailure(error) }
    } finally {
      late?.cancel()
    }
  }

  #reply(item: ReplyItem): void {
    this.#batches.push(item, itemBytes + (item.kind === 'answer' ? item.payload.length : 0))
    // A caller that does not read answers gets no more of them.
    if (this.#batches.waitingBytes > rpcLimits.exchangeQueueBytesMax) this.#stream.pause()
  }

  #onDrain(): void {
    if (this.#stream.isPaused()) this.#stream.resume()
    if (this.#isFinishing) this.#endWhenDone()
  }

  #endWhenDone(): void {
    if (this.#isEnded || this.#open.size > 0 || this.#batches.waitingBytes > 0) return
    this.#isEnded = true
    this.#ended()
    this.#stream.end()
  }

  #abandon(): void {
    this.#batches.end()
    this.#ended()
    for (const underWay of this.#open.values()) underWay.cancel()
  }
}

function contextOf(underWay: UnderWay, { timeoutMs, requestId }: Call, traceparent: string | undefined): CallContext {
  return {
    get signal() {
      return underWay.signal
    },
    timeoutMs,
    traceparent,
    requestId,
  }
}

function decode({ request }: ServedMethod, payload: Uint8Array): unknown {
  try {
    return request.decode(payload)
  } catch (error) {
    throw badRequest('a message from another service cannot be read', { cause: error })
  }
}
