import type { CallContext, ServiceRole, Stream } from '@orch/core/contracts'
import { badRequest, failed, internal, serviceUnavailable } from '@orch/core/meta'
import type { Clock } from '../clock.ts'
import { Batches } from './batches.ts'
import type { Departure } from './departure.ts'
import type { CalleePort } from './frame-port.ts'
import { type Call, type CallItem, itemBytes, type ReplyItem } from './frames.ts'
import { rpcLimits } from './limits.ts'
import type { ServedMethod } from './served.ts'
import { noAnswerInTime, toWireFailure } from './wire-failure.ts'
import type { Work } from './work.ts'

/** The dependencies of the called side. */
export interface FrameCalleeOptions {
  readonly methods: ReadonlyMap<string, ServedMethod>
  readonly clock: Clock
  readonly work: Work
  readonly departure: Departure
  /** The role of the caller. */
  readonly role: ServiceRole | undefined
}

/** The called side of a connection of frames. Answers are sent as soon as they are ready. */
export class FrameCallee {
  readonly #port: CalleePort
  readonly #options: FrameCalleeOptions
  readonly #batches: Batches<ReplyItem>
  readonly #open = new Map<number, UnderWay>()
  readonly #ended: () => void
  #isFinishing = false
  #isEnded = false

  constructor(port: CalleePort, options: FrameCalleeOptions) {
    this.#port = port
    this.#options = options
    this.#batches = new Batches(port, () => this.#onDrain())
    this.#ended = options.departure.join(() => this.#batches.push({ kind: 'leaving' }, itemBytes))
    const finish = () => {
      this.#isFinishing = true
      this.#endWhenDone()
    }
    port.listen({ take: (item) => this.#take(item), finish, die: () => this.#abandon() })
  }

  /** Cancels open calls and closes the connection. */
  close(): void {
    this.#abandon()
    this.#port.end()
  }

  #take(item: CallItem): void {
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
    const { id } = item
    if (this.#open.has(id)) {
      this.#port.refuse(`the call ${id} is already pending`)
      return
    }
    const done = this.#options.work.begin()
    if (this.#open.size >= rpcLimits.exchangeCallsMax) {
      const overloaded = serviceUnavailable('too many calls wait for this service', { retryAfterSeconds: 1 })
      this.#say({ kind: 'failure', id, ...toWireFailure(overloaded) })
    } else {
      const underWay = new UnderWay()
      this.#open.set(id, underWay)
      this.#say(await this.#run(item, underWay))
      this.#open.delete(id)
    }
    done()
    if (this.#isFinishing) this.#endWhenDone()
  }

  /** Returns the last reply to the call. */
  async #run(item: Call, underWay: UnderWay): Promise<ReplyItem> {
    const { id, timeoutMs } = item
    const { methods, clock, role } = this.#options
    const method = methods.get(item.method)
    const observation = method?.observe(item)
    const late = timeoutMs === undefined ? undefined : clock.after(timeoutMs, () => underWay.cancel())
    try {
      if (method === undefined) throw failed(501, '', `the method ${JSON.stringify(item.method)} is not offered here`)
      const request = decode(method, item.payload)
      method.admit(role, request)
      const called = method.call(request, contextOf(underWay, item, observation?.traceparent))
      const last =
        method.form === 'unary'
          ? answerOf(id, method.response.encode(await underWay.answer(called)))
          : await this.#stream(id, method, { parts: called as Stream<unknown>, underWay })
      observation?.end()
      return last
    } catch (error) {
      observation?.end(error)
      return { kind: 'failure', id, ...toWireFailure(error) }
    } finally {
      late?.cancel()
    }
  }

  /** Follows the reader's pace: sends the next part when the unread bytes fit into the window. */
  async #stream(
    id: number,
    { response }: ServedMethod,
    { parts, underWay }: { readonly parts: Stream<unknown>; readonly underWay: UnderWay },
  ): Promise<ReplyItem> {
    underWay.reads(parts)
    for await (const part of parts) {
      const payload = response.encode(part)
      this.#say({ kind: 'part', id, payload })
      await underWay.room(payload.length + itemBytes)
      if (underWay.isCancelled) break
    }
    // The caller must not take a truncated answer for a complete one.
    if (underWay.isCancelled) throw noAnswerInTime()
    return { kind: 'end', id }
  }

  #say(item: ReplyItem): void {
    this.#batches.push(item, itemBytes + ('payload' in item ? item.payload.length : 0))
    // While a caller does not read its answers, no further calls are read from it.
    if (this.#batches.waitingBytes > rpcLimits.exchangeQueueBytesMax) this.#port.pause()
  }

  #onDrain(): void {
    this.#port.resume()
    if (this.#isFinishing) this.#endWhenDone()
  }

  #endWhenDone(): void {
    if (this.#isEnded || this.#open.size > 0 || this.#batches.waitingBytes > 0) return
    this.#isEnded = true
    this.#ended()
    this.#port.end()
  }

  #abandon(): void {
    this.#batches.end()
    this.#ended()
    for (const underWay of this.#open.values()) underWay.cancel()
  }
}

function answerOf(id: number, payload: Uint8Array): ReplyItem {
  if (payload.length > rpcLimits.exchangePayloadBytesMax) throw internal('an answer is too large')
  return { kind: 'answer', id, payload }
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

/** A cancellable call that is being answered. Its signal is created on demand, since most calls do not need it. */
export class UnderWay {
  #controller: AbortController | undefined
  #isCancelled = false
  #onCancel: (() => void) | undefined
  /** Bytes of a stream that the reader has not taken. */
  #waitingBytes = 0
  #onRoom: (() => void) | undefined

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isCancelled) this.#controller.abort()
    return this.#controller.signal
  }

  get isCancelled(): boolean {
    return this.#isCancelled
  }

  cancel(): void {
    this.#isCancelled = true
    this.#controller?.abort()
    this.#onCancel?.()
    this.#onRoom?.()
  }

  /** The answer, or an error when the call is cancelled, so that a call that ignores its signal does not hold its place for ever. */
  answer(answer: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#onCancel = () => reject(noAnswerInTime())
      if (this.#isCancelled) this.#onCancel()
      Promise.resolve(answer).then(resolve, reject)
    })
  }

  /** Closes the stream of the answer if the call is cancelled. */
  reads(parts: Stream<unknown>): void {
    this.#onCancel = () => parts.close()
    if (this.#isCancelled) parts.close()
  }

  /** Reports a number of bytes that the reader has taken. */
  taken(bytes: number): void {
    this.#waitingBytes -= bytes
    if (this.#waitingBytes < rpcLimits.windowBytes) this.#onRoom?.()
  }

  /** Adds sent bytes of a stream, and resolves when more may be sent. */
  async room(bytes: number): Promise<void> {
    this.#waitingBytes += bytes
    if (this.#isCancelled || this.#waitingBytes < rpcLimits.windowBytes) return
    await new Promise<void>((resolve) => {
      this.#onRoom = resolve
    })
    this.#onRoom = undefined
  }
}
