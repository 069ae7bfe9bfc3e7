import type { CallContext, Stream } from '@orch/core/contracts'
import { requestEntityTooLarge, serviceUnavailable, timeout } from '@orch/core/meta'
import { onAbort } from '../abort.ts'
import type { Clock, Timer } from '../clock.ts'
import { Batches } from './batches.ts'
import type { FramePort } from './frame-port.ts'
import { type Call, type CallItem, itemBytes, type ReplyItem } from './frames.ts'
import { rpcLimits } from './limits.ts'
import { afterPatience } from './patience.ts'
import { PushStream } from './push-stream.ts'
import { ConnectionLostError, fromWireFailure, NotAskedError, noAnswerInTime } from './wire-failure.ts'

/** The connection of a caller, and the callback for its end. */
export interface FrameCallerOptions {
  readonly port: FramePort<CallItem, ReplyItem>
  readonly clock: Clock
  /** Called when the other side accepts no more calls here, or the connection is dead. */
  readonly onGone: () => void
}

/** The time that a call waits for its answer. */
export interface Patience {
  readonly answerMs: number
  /** Called if there was no answer for `rpcLimits.unansweredMs`. */
  readonly unanswered: () => void
  /** Called when the time is over: returns how much longer to wait; 0 or less ends the wait. */
  readonly more: () => number
}

/** Receives the replies to a call. */
interface Receiver {
  /** Receives the answer, or a part of a stream. */
  take(payload: Uint8Array): void
  end(): void
  fail(error: unknown): void
}

interface Pending extends Receiver {
  readonly item: Call
  wasSent: boolean
  /** Ends the expectation of further replies. */
  settle(): void
}

interface Opening {
  readonly context: CallContext
  readonly patience?: Patience | undefined
  readonly receiver: Receiver
  /** Called when the caller's signal is aborted. */
  readonly giveUp: (pending: Pending) => void
}

/** The calling side of a connection of frames. When the connection dies, the outcome of every sent call is unknown. */
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

  /** Sends one call with the next batch. It ends with the caller's deadline or when its patience ends. */
  send(method: string, payload: Uint8Array, context: CallContext, patience?: Patience): Promise<Uint8Array> {
    const refusal = this.#refusal(payload, context)
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise((take, fail) => {
      const giveUp = (pending: Pending) => this.#giveUp(pending, timeout('the call was cancelled'))
      this.#open(method, payload, { context, patience, receiver: { take, end: () => fail(noAnswerInTime()), fail }, giveUp })
    })
  }

  /** Like `send`, for a stream of parts. Unread parts wait here up to the window, and then at the other side. Raising the signal ends the stream. */
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
    const giveUp = () => {
      this.#cancel(pending)
      parts.end()
    }
    const pending = this.#open(method, payload, { context, receiver, giveUp })
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

  /** Accepts no more calls, and closes the connection when all calls are answered. */
  finish(): void {
    this.#isFinishing = true
    this.#endWhenDone()
  }

  /** Fails all calls because the other side is silent. */
  abandon(): void {
    for (const pending of [...this.#pending.values()]) this.#giveUp(pending, new ConnectionLostError(true))
  }

  /** Closes the connection and fails all calls. */
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

  #open(method: string, payload: Uint8Array, { context, patience, receiver, giveUp }: Opening): Pending {
    const { clock } = this.#options
    const { signal, timeoutMs, traceparent, requestId } = context
    this.#lastId += 1
    const id = this.#lastId
    const wholeMs = timeoutMs === undefined ? undefined : Math.ceil(timeoutMs)
    const item: Call = { kind: 'call', id, method, payload, timeoutMs: wholeMs, traceparent, requestId }
    const cancel = () => giveUp(pending)
    const late = () => this.#giveUp(pending, noAnswerInTime())
    const timer = timeoutMs === undefined ? undefined : afterPatience(clock, timeoutMs, late)
    const patient = patience === undefined ? undefined : whilePatient(clock, patience, late)
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
    onAbort(signal, cancel)
    return pending
  }

  #giveUp(pending: Pending, error: unknown): void {
    pending.fail(this.#cancel(pending) ? error : new NotAskedError())
  }

  /** Cancels a call. False if it was not sent yet. */
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
