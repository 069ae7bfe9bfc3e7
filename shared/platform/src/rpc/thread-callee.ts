import type { MessagePort } from 'node:worker_threads'
import type { CallContext, Stream } from '@orch/core/contracts'
import { badRequest, failed } from '@orch/core/meta'
import { type Clock, systemClock } from '../clock.ts'
import type { Batches } from './batches.ts'
import { type Codec, codecOf } from './codec.ts'
import { rpcLimits } from './limits.ts'
import { methodPath } from './path.ts'
import type { Offer } from './serve.ts'
import { batchesOver, onFrames, type ThreadCall, type ThreadReply, threadCalls, threadItemBytes, threadReplies } from './thread-frames.ts'
import { UnderWay } from './under-way.ts'
import { noAnswerInTime, toWireFailure } from './wire-failure.ts'

/** Services that another thread calls. */
export interface ThreadOffer {
  /** Cancels open calls. The caller learns that the link is closed. */
  close(): void
}

type Call = Extract<ThreadCall, { readonly kind: 'call' }>

interface OfferedMethod {
  readonly form: 'unary' | 'stream'
  readonly request: Codec
  readonly response: Codec
  readonly call: (request: unknown, context: CallContext) => unknown
}

/** The caller's later messages about a call. */
interface OpenCall {
  cancel(): void
  taken(bytes: number): void
}

/** Answers calls over a port from another thread: all services that this thread offers share the port. */
export function serveThread(port: MessagePort, offers: readonly Offer[], { clock = systemClock }: { clock?: Clock } = {}): ThreadOffer {
  const methods = new Map(offers.flatMap(methodsOf))
  const callee = new ThreadCallee(port, methods, clock)
  return { close: () => callee.close() }
}

function methodsOf({ contract, service }: Offer): [string, OfferedMethod][] {
  // The contract ties method and service together; TypeScript loses that in the loop.
  const calls = service as unknown as Readonly<Record<string, OfferedMethod['call']>>
  return Object.entries(contract.methods).map(([name, { form, request, response }]) => {
    const call = calls[name]
    if (call === undefined) throw new TypeError(`the service has no method ${name}`)
    return [methodPath(contract.name, name), { form, request: codecOf(request), response: codecOf(response), call: call.bind(service) }]
  })
}

class ThreadCallee {
  readonly #port: MessagePort
  readonly #methods: ReadonlyMap<string, OfferedMethod>
  readonly #clock: Clock
  readonly #batches: Batches<ThreadReply>
  readonly #open = new Map<number, OpenCall>()

  constructor(port: MessagePort, methods: ReadonlyMap<string, OfferedMethod>, clock: Clock) {
    this.#port = port
    this.#methods = methods
    this.#clock = clock
    this.#batches = batchesOver(port, threadReplies)
    onFrames(port, threadCalls, (item) => this.#take(item))
    port.on('close', () => this.#abandon())
  }

  close(): void {
    this.#abandon()
    this.#port.close()
  }

  #take(item: ThreadCall): void {
    switch (item.kind) {
      case 'call':
        void this.#answer(item)
        break
      case 'cancel':
        this.#open.get(item.id)?.cancel()
        break
      case 'taken':
        this.#open.get(item.id)?.taken(item.bytes)
        break
    }
  }

  async #answer(item: Call): Promise<void> {
    const { id, timeoutMs } = item
    const underWay = new UnderWay()
    const reading = new Reading(underWay)
    this.#open.set(id, reading)
    const late = timeoutMs === undefined ? undefined : this.#clock.after(timeoutMs, () => reading.cancel())
    try {
      const method = this.#methods.get(item.method)
      if (method === undefined) throw failed(501, '', `the method ${JSON.stringify(item.method)} is not offered to other threads`)
      const called = method.call(decode(method, item.payload), contextOf(underWay, item))
      if (method.form === 'unary') this.#say({ kind: 'answer', id, payload: method.response.encode(await underWay.answer(called)) })
      else await this.#stream(id, method, reading.of(called as Stream<unknown>))
    } catch (error) {
      this.#say({ kind: 'failure', id, ...toWireFailure(error) })
    } finally {
      late?.cancel()
      this.#open.delete(id)
    }
  }

  /** The reader's pace is kept: the next part is asked for when those before it have been taken, but for a window. */
  async #stream(id: number, { response }: OfferedMethod, reading: Reading): Promise<void> {
    for await (const part of reading.parts) {
      const payload = response.encode(part)
      this.#say({ kind: 'part', id, payload })
      await reading.room(payload.length + threadItemBytes)
      if (reading.isCancelled) break
    }
    // The caller must not take a cut-off answer for the whole.
    if (reading.isCancelled) throw noAnswerInTime()
    this.#say({ kind: 'end', id })
  }

  #say(item: ThreadReply): void {
    this.#batches.push(item, threadItemBytes + ('payload' in item ? item.payload.length : 0))
  }

  #abandon(): void {
    this.#batches.end()
    for (const call of this.#open.values()) call.cancel()
  }
}

/** The other thread's progress in reading a stream. */
class Reading implements OpenCall {
  readonly #underWay: UnderWay
  #parts: Stream<unknown> | undefined
  #waitingBytes = 0
  #isCancelled = false
  #onRoom: (() => void) | undefined

  constructor(underWay: UnderWay) {
    this.#underWay = underWay
  }

  get parts(): Stream<unknown> {
    if (this.#parts === undefined) throw new TypeError('the stream has not been opened')
    return this.#parts
  }

  get isCancelled(): boolean {
    return this.#isCancelled
  }

  of(parts: Stream<unknown>): this {
    this.#parts = parts
    if (this.#isCancelled) parts.close()
    return this
  }

  cancel(): void {
    this.#isCancelled = true
    this.#underWay.cancel()
    this.#parts?.close()
    this.#onRoom?.()
  }

  taken(bytes: number): void {
    this.#waitingBytes -= bytes
    if (this.#waitingBytes < rpcLimits.windowBytes) this.#onRoom?.()
  }

  /** Adds the sent bytes, and resolves when more may be sent. */
  async room(bytes: number): Promise<void> {
    this.#waitingBytes += bytes
    if (this.#isCancelled || this.#waitingBytes < rpcLimits.windowBytes) return
    await new Promise<void>((resolve) => {
      this.#onRoom = resolve
    })
    this.#onRoom = undefined
  }
}

function contextOf(underWay: UnderWay, { timeoutMs, traceparent, requestId }: Call): CallContext {
  return {
    get signal() {
      return underWay.signal
    },
    timeoutMs,
    traceparent,
    requestId,
  }
}

function decode({ request }: OfferedMethod, payload: Uint8Array): unknown {
  try {
    return request.decode(payload)
  } catch (error) {
    throw badRequest('a message from another thread cannot be read', { cause: error })
  }
}
