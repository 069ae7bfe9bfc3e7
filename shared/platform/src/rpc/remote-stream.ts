import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js'
import type { CallContext, Stream } from '@orch/core/contracts'
import { onAbort } from '../abort.ts'
import type { Timer } from '../clock.ts'
import { rpcLimits } from './limits.ts'
import type { Observation } from './observe.ts'
import { afterPatience } from './patience.ts'
import { findReplica, mayRepeat, metadataOf, optionsOf, patience, type RemoteMethod } from './remote-call.ts'
import type { Replica } from './replica.ts'
import { fromGrpcError, isLate, lateEverywhere } from './status.ts'
import { ConnectionLostError, noAnswerInTime, toCallerError } from './wire-failure.ts'

interface OpenCall {
  readonly call: ClientReadableStream<unknown>
  readonly parts: AsyncIterator<unknown>
  readonly replica: Replica
  /** Pending until the first part arrives. */
  late: Timer | undefined
  /** Set when the first part is late. */
  isLate: boolean
  /** An iterator does not report an error from before its first read. */
  failure: unknown
}

/**
 * The parts of a call, pulled one by one; unread parts stay with the sender. The call is opened as soon as there is a
 * replica. If the connection dies before the first part, or the first part is late, an idempotent call is opened once more.
 */
export class RemoteStream implements Stream<unknown>, AsyncIterator<unknown, undefined> {
  readonly #method: RemoteMethod
  readonly #message: unknown
  readonly #context: CallContext
  readonly #observation: Observation
  #open: OpenCall | Promise<OpenCall>
  #mayRepeat = true
  #closed = false

  constructor(method: RemoteMethod, message: unknown, context: CallContext) {
    this.#method = method
    this.#message = message
    this.#observation = method.observe(context)
    this.#context = { ...context, traceparent: this.#observation.traceparent }
    this.#open = this.#start()
    onAbort(context.signal, this.close)
  }

  async next(): Promise<IteratorResult<unknown, undefined>> {
    while (!this.#closed) {
      try {
        const open = await this.#open
        const { value, done } = await open.parts.next()
        open.late?.cancel()
        if (this.#closed) break
        if (done === true && open.failure !== undefined) throw open.failure
        if (done === true) break
        this.#mayRepeat = false
        this.#observation.end()
        return { value, done: false }
      } catch (error) {
        if (this.#closed) break
        this.#handle(error)
      }
    }
    this.#release()
    return { value: undefined, done: true }
  }

  return(): Promise<IteratorResult<unknown, undefined>> {
    this.close()
    return Promise.resolve({ value: undefined, done: true })
  }

  close = (): void => {
    if (this.#closed) return
    this.#release()
    // If the call is not open yet, the code that opens it cancels it.
    if (!(this.#open instanceof Promise)) this.#open.call.cancel()
  };

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Opens the call again, or throws the error for the reader. */
  #handle(caught: unknown): void {
    const open = this.#open instanceof Promise ? undefined : this.#open
    open?.late?.cancel()
    const failure = isGrpcError(caught) ? fromGrpcError(caught) : caught
    const error = open?.isLate === true ? noAnswerInTime(failure) : failure
    if (error instanceof ConnectionLostError) open?.replica.suspect()
    if (this.#mayRepeat && mayRepeat(error, this.#method)) {
      this.#mayRepeat = false
      this.#open = this.#start(2)
      return
    }
    const callerError = open?.isLate === true && isLate(error) ? lateEverywhere(error) : toCallerError(error, { idempotent: true })
    this.#release(callerError)
    throw callerError
  }

  #start(attempt = 1): OpenCall | Promise<OpenCall> {
    const replica = findReplica(this.#method, 'stream', this.#context)
    if (!(replica instanceof Promise)) return this.#openAt(replica, attempt)
    const opening = replica.then((found) => {
      const open = this.#openAt(found, attempt)
      if (this.#closed) open.call.cancel()
      else this.#open = open
      return open
    })
    // The reader receives the error; without a reader it must not count as unhandled.
    opening.catch(() => {})
    return opening
  }

  #openAt(replica: Replica, attempt: number): OpenCall {
    const { path, request, response, clock } = this.#method
    const decode = (bytes: Buffer) => response.decode(bytes)
    const call = replica.client.makeServerStreamRequest(
      path,
      request.encode,
      decode,
      this.#message,
      metadataOf(this.#context),
      optionsOf(this.#context),
    )
    replica.inFlight.stream += 1
    call.once('status', () => {
      replica.inFlight.stream -= 1
    })
    call.on('error', (error) => {
      open.failure = error
    })
    const begunMs = clock.monotonic()
    const answerMs = patience(this.#method, this.#message, attempt)
    const time = { begunMs, answerMs }
    const giveUp = () => {
      const moreMs = replica.patienceFor(time)
      if (moreMs > 0) open.late = afterPatience(clock, moreMs, giveUp)
      else leave()
    }
    const leave = () => {
      if (this.#open !== open || this.#closed) return
      open.isLate = true
      replica.wasLate(begunMs)
      call.cancel()
    }
    const open: OpenCall = { call, parts: call[Symbol.asyncIterator](), replica, late: undefined, isLate: false, failure: undefined }
    if (answerMs !== undefined) {
      const quietMs = Math.min(rpcLimits.unansweredMs, answerMs / 2)
      open.late = clock.after(quietMs, () => {
        replica.isAwaited(begunMs)
        open.late = afterPatience(clock, answerMs - quietMs, giveUp)
      })
      const stop = replica.onSilence(leave)
      call.once('status', stop)
      call.once('metadata', stop)
    }
    call.once('metadata', () => {
      open.late?.cancel()
      replica.hasAnswered(time)
    })
    return open
  }

  #release(error?: unknown): void {
    this.#closed = true
    this.#observation.end(error)
    this.#context.signal?.removeEventListener('abort', this.close)
  }
}

function isGrpcError(error: unknown): error is ServiceError {
  return error instanceof Error && 'metadata' in error && 'code' in error
}
