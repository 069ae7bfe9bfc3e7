import type { CallContext, Stream } from '@orch/core/contracts'
import { requestEntityTooLarge, serviceUnavailable, timeout } from '@orch/core/meta'
import type { Clock, Timer } from '../clock.ts'
import { Batches } from './batches.ts'
import type { FramePort } from './frame-port.ts'
import { type Call, type CallItem, itemBytes, type ReplyItem } from './frames.ts'
import { rpcLimits } from './limits.ts'
import { afterPatience } from './patience.ts'
import { PushStream } from './push-stream.ts'
import { ConnectionLostError, fromWireFailure, NotAskedError, noAnswerInTime } from './wire-failure.ts'

/** The connection of a caller, and the receiver of its end. */
export interface FrameCallerOptions {
  readonly port: FramePort<CallItem, ReplyItem>
  readonly clock: Clock
  /** The other side takes no more calls here, or the connection is dead. */
  readonly onGone: () => void
}

/** The time that the other side is given for an answer. */
export interface Patience {
  readonly answerMs: number
  /** Called when there has been no answer for `rpcLimits.unansweredMs`. */
  readonly unanswered: () => void
  /** Asked when it is up: how much longer to wait; 0 or less: no longer. */
  readonly more: () => number
}

/** The receiver of the replies to a call. */
interface Receiver {
  /** The answer, or a part of a stream. */
  take(payload: Uint8Array): void
  end(): void
  fail(error: unknown): void
}

interface Pending extends Receiver {
  readonly item: Call
  wasSent: boolean
  /** Nothing more is expected. */
  settle(): void
}

interface Opening {
  readonly context: CallContext
  readonly patience?: Patience | undefined
  readonly receiver: Receiver
  /** The signal of the caller was raised. */
  readonly onAbort: (pending: Pending) => void
}

/** The calling side of a connection of frames. When it dies, every sent call has an unknown outcome. */
export class FrameCaller {
  readonly #options: FrameCallerOptions
  readonly #batches: Batches<CallItem>
  readonly #pending = new Map<number, Pending>()
  #lastId = 0
  #isFinishing = false
  #isDead = false

  constructor(options: FrameCallerOptions) {
    this.#options = options
    this.#batches = new Batches(options.port)
    options.port.listen({ take: (item) => this.#take(item), finish: () => {}, die: () => this.#die() })
  }

  /** Sends one call with the next batch. Its time is up with that of the caller, or when patience ends. */
  send(method: string, payload: Uint8Array, context: CallContext, patience?: Patience): Promise<Uint8Array> {
    const refusal = this.#refusal(payload, context)
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise((take, fail) => {
      const onAbort = (pending: Pending) => this.#giveUp(pending, timeout('the call was cancelled'))
      this.#open(method, payload, { context, patience, receiver: { take, end: () => fail(noAnswerInTime()), fail }, onAbort })
    })
  }

  /** As `send`, for parts until an end. Unread parts up to the window wait here, the others stay with the other side. A reader whose signal is raised gets no more. */
  stream(method: string, payload: Uint8Array, context: CallContext): Stream<Uint8Array> {
    const parts = new PushStream<Uint8Array>()
    const refusal = context.signal?.aborted ? undefined : this.#refusal(payload, context)
    if (refusal !== undefined) parts.fail(refusal)
    else if (context.signal?.aborted) parts.end()
    if (parts.ended) return parts
    const receiver = {
      take: (part: Uint8Array) => parts.push(part),
      end: () => parts.end(),
      fail: (error: unknown) => parts.fail(error),
    }
    const onAbort = () => {
      this.#cancel(pending)
      parts.end()
    }
    const pending = this.#open(method, payload, { context, receiver, onAbort })
    const close = () => {
      this.#cancel(pending)
      parts.close()
    }
    const iterator: AsyncIterator<Uint8Array, undefined> = {
      next: async () => {
        const part = await parts.next()
        if (part.done !== true) this.#taken(pending, part.value.length + itemBytes)
        return part
      },
      return: async () => {
        close()
        return { value: undefined, done: true }
      },
    }
    return { close, [Symbol.asyncIterator]: () => iterator }
  }

  /** Takes no more calls, and ends the connection when those under way are answered. */
  finish(): void {
    this.#isFinishing = true
    this.#endWhenDone()
  }

  /** Ends all calls without an answer: the other side is silent. */
  abandon(): void {
    for (const pending of [...this.#pending.values()]) this.#giveUp(pending, new ConnectionLostError(true))
  }

  /** Ends the connection, and all calls with it. */
  close(): void {
    this.#die()
    this.#options.port.end()
  }

  #refusal(payload: Uint8Array, { signal }: CallContext): Error | undefined {
    if (signal?.aborted) return timeout('the call was cancelled')
    if (payload.length > rpcLimits.exchangePayloadBytesMax) return requestEntityTooLarge('a message to another service is too large')
    if (this.#isDead || this.#isFinishing) return new ConnectionLostError(false)
    const isFull =
      this.#pending.size >= rpcLimits.exchangeCallsMax || this.#batches.waitingBytes + payload.length > rpcLimits.exchangeQueueBytesMax
    return isFull ? serviceUnavailable('too many calls wait for another service', { retryAfterSeconds: 1 }) : undefined
  }

  #open(method: string, payload: Uint8Array, { context, patience, receiver, onAbort }: Opening): Pending {
    const { clock } = this.#options
    const { signal, timeoutMs, traceparent, requestId } = context
    this.#lastId += 1
    const id = this.#lastId
    const wholeMs = timeoutMs === undefined ? undefined : Math.ceil(timeoutMs)
    const item: Call = { kind: 'call', id, method, payload, timeoutMs: wholeMs, traceparent, requestId }
    const cancel = () => onAbort(pending)
    const late = () => this.#giveUp(pending, noAnswerInTime())
    const timer = timeoutMs === undefined ? undefined : afterPatience(clock, timeoutMs, late)
    const patient = patience === undefined ? undefined : whilePatient(clock, patience, late)
    signal?.addEventListener('abort', cancel, { once: true })
    const settle = () => {
      timer?.cancel()
      patient?.cancel()
      signal?.removeEventListener('abort', cancel)
      this.#pending.delete(id)
      if (this.#isFinishing) this.#endWhenDone()
    }
    const pending: Pending = { ...receiver, item, wasSent: false, settle }
    this.#pending.set(id, pending)
    this.#batches.push(item, payload.length + itemBytes, () => {
      pending.wasSent = true
    })
    return pending
  }

  #giveUp(pending: Pending, error: unknown): void {
    pending.fail(this.#cancel(pending) ? error : new NotAskedError())
  }

  /** Nothing more of this call is wanted. False: it has not left. */
  #cancel(pending: Pending): boolean {
    const { item, settle } = pending
    if (this.#pending.get(item.id) !== pending) return true
    settle()
    if (!pending.wasSent && this.#batches.retract(item)) return false
    this.#batches.push({ kind: 'cancel', id: item.id }, itemBytes)
    return true
  }

  #taken({ item: { id } }: Pending, bytes: number): void {
    if (this.#pending.has(id)) this.#batches.push({ kind: 'taken', id, bytes }, itemBytes)
  }

  #take(item: ReplyItem): void {
    if (item.kind === 'leaving') {
      this.finish()
      this.#options.onGone()
      return
    }
    const pending = this.#pending.get(item.id)
    if (pending === undefined) return
    if (item.kind !== 'part') pending.settle()
    switch (item.kind) {
      case 'answer':
      case 'part':
        pending.take(item.payload)
        break
      case 'failure':
        pending.fail(fromWireFailure(item))
        break
      case 'end':
        pending.end()
        break
    }
  }

  #endWhenDone(): void {
    if (this.#pending.size > 0 || this.#isDead) return
    this.#isDead = true
    this.#batches.end()
    this.#options.port.end()
  }

  #die(): void {
    if (this.#isDead) return
    this.#isDead = true
    this.#batches.end()
    for (const pending of [...this.#pending.values()]) {
      pending.settle()
      pending.fail(new ConnectionLostError(pending.wasSent))
    }
    this.#options.onGone()
  }
}

function whilePatient(clock: Clock, { answerMs, unanswered, more }: Patience, late: () => void): Timer {
  const quietMs = Math.min(rpcLimits.unansweredMs, answerMs / 2)
  let timer = clock.after(quietMs, () => {
    unanswered()
    timer = afterPatience(clock, answerMs - quietMs, again)
  })
  function again(): void {
    const moreMs = more()
    if (moreMs > 0) timer = afterPatience(clock, moreMs, again)
    else late()
  }
  return { cancel: () => timer.cancel() }
}
