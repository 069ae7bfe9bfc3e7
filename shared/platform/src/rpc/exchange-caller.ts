import type { ClientDuplexStream } from '@grpc/grpc-js'
import type { CallContext } from '@orch/core/contracts'
import { requestEntityTooLarge, serviceUnavailable, timeout } from '@orch/core/meta'
import type { Clock, Timer } from '../clock.ts'
import { Batches } from './batches.ts'
import type { CallFrame, CallItem, ReplyFrame, ReplyItem } from './frames.ts'
import { rpcLimits } from './limits.ts'
import { afterPatience } from './patience.ts'
import { ConnectionLostError } from './status.ts'
import { fromWireFailure, NotAskedError, noAnswerInTime } from './wire-failure.ts'

/** A stream that calls travel on, and whom to tell of its end. */
export interface ExchangeCallerOptions {
  readonly call: ClientDuplexStream<CallFrame, ReplyFrame>
  readonly clock: Clock
  /** The other side takes no more calls here, or the stream is dead. */
  readonly onGone: () => void
}

interface Pending {
  readonly item: Extract<CallItem, { readonly kind: 'call' }>
  wasSent: boolean
  resolve(payload: Uint8Array): void
  reject(error: unknown): void
}

/** The time that the other side is given for an answer. */
export interface Patience {
  readonly answerMs: number
  /** Called when there has been no answer for `rpcLimits.unansweredMs`. */
  readonly unanswered: () => void
  /** Asked when it is up: how much longer to wait; 0 or less: no longer. */
  readonly more: () => number
}

/** The approximate cost of an item besides its payload. */
const itemBytes = 96

/** The calling side of a stream of batches. When the stream dies, every sent call has an unknown outcome. */
export class ExchangeCaller {
  readonly #options: ExchangeCallerOptions
  readonly #batches: Batches<CallItem>
  readonly #pending = new Map<number, Pending>()
  #lastId = 0
  #isFinishing = false
  #isDead = false

  constructor(options: ExchangeCallerOptions) {
    const { call } = options
    this.#options = options
    this.#batches = new Batches(call)
    call.on('data', ({ items }: ReplyFrame) => {
      for (const item of items) this.#take(item)
    })
    // Every end has a status, also that of a connection that died.
    call.on('error', () => {})
    call.on('status', () => this.#die())
  }

  /** Sends one call with the next batch. Its time is up with that of the caller, or when patience ends. */
  send(method: string, payload: Buffer, context: CallContext, patience?: Patience): Promise<Uint8Array> {
    if (payload.length > rpcLimits.exchangePayloadBytesMax)
      return Promise.reject(requestEntityTooLarge('a message to another service is too large'))
    if (this.#isDead || this.#isFinishing) return Promise.reject(new ConnectionLostError(false))
    if (this.#pending.size >= rpcLimits.exchangeCallsMax || this.#batches.waitingBytes + payload.length > rpcLimits.exchangeQueueBytesMax) {
      return Promise.reject(serviceUnavailable('too many calls wait for another service', { retryAfterSeconds: 1 }))
    }
    const { timeoutMs, traceparent, requestId } = context
    this.#lastId += 1
    const item: Pending['item'] = { kind: 'call', id: this.#lastId, method, payload, timeoutMs: whole(timeoutMs), traceparent, requestId }
    return new Promise((resolve, reject) => this.#open(item, { ...context, patience }, { resolve, reject }))
  }

  /** Takes no more calls, and ends the stream when those under way are answered. */
  finish(): void {
    this.#isFinishing = true
    this.#endWhenDone()
  }

  #open(
    item: Pending['item'],
    { signal, timeoutMs, patience }: CallContext & { readonly patience: Patience | undefined },
    { resolve, reject }: Pick<Pending, 'resolve' | 'reject'>,
  ): void {
    const { clock } = this.#options
    let timer: Timer | undefined
    let patient: Timer | undefined
    const settle = () => {
      timer?.cancel()
      patient?.cancel()
      signal?.removeEventListener('abort', cancel)
      this.#pending.delete(item.id)
      if (this.#isFinishing) this.#endWhenDone()
    }
    const pending: Pending = {
      item,
      wasSent: false,
      resolve(payload) {
        settle()
        resolve(payload)
      },
      reject(error) {
        settle()
        reject(error)
      },
    }
    const cancel = () => this.#giveUp(pending, timeout('the call was cancelled'))
    const late = () => this.#giveUp(pending, noAnswerInTime())
    if (timeoutMs !== undefined) timer = afterPatience(clock, timeoutMs, late)
    if (patience !== undefined) patient = whilePatient(clock, patience, late)
    signal?.addEventListener('abort', cancel, { once: true })
    this.#pending.set(item.id, pending)
    this.#batches.push(item, item.payload.length + itemBytes, () => {
      pending.wasSent = true
    })
  }

  /** Ends all calls without an answer: the other side is silent. */
  abandon(): void {
    for (const pending of [...this.#pending.values()]) this.#giveUp(pending, new ConnectionLostError(true))
  }

  #giveUp(pending: Pending, error: unknown): void {
    if (pending.wasSent) this.#batches.push({ kind: 'cancel', id: pending.item.id }, itemBytes)
    const neverLeft = !pending.wasSent && this.#batches.retract(pending.item)
    pending.reject(neverLeft ? new NotAskedError() : error)
  }

  #take(item: ReplyItem): void {
    switch (item.kind) {
      case 'answer':
        this.#pending.get(item.id)?.resolve(item.payload)
        break
      case 'failure':
        this.#pending.get(item.id)?.reject(fromWireFailure(item))
        break
      case 'leaving':
        this.finish()
        this.#options.onGone()
        break
    }
  }

  #endWhenDone(): void {
    if (this.#pending.size > 0 || this.#isDead) return
    this.#isDead = true
    this.#batches.end()
    this.#options.call.end()
  }

  #die(): void {
    if (this.#isDead) return
    this.#isDead = true
    this.#batches.end()
    for (const pending of [...this.#pending.values()]) pending.reject(new ConnectionLostError(pending.wasSent))
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

function whole(timeoutMs: number | undefined): number | undefined {
  return timeoutMs === undefined ? undefined : Math.ceil(timeoutMs)
}
