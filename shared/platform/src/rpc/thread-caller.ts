import type { MessagePort } from 'node:worker_threads'
import { type CallContext, type Contract, type Methods, type Service, type Stream, UnknownOutcomeError } from '@orch/core/contracts'
import { serviceUnavailable, timeout } from '@orch/core/meta'
import { type Clock, systemClock } from '../clock.ts'
import type { Batches } from './batches.ts'
import { type Codec, codecOf } from './codec.ts'
import { rpcLimits } from './limits.ts'
import { methodPath } from './path.ts'
import { afterPatience } from './patience.ts'
import { PushStream } from './push-stream.ts'
import { batchesOver, onFrames, type ThreadCall, type ThreadReply, threadCalls, threadItemBytes, threadReplies } from './thread-frames.ts'
import { fromWireFailure, NotAskedError, noAnswerInTime } from './wire-failure.ts'

/** The services of another thread. */
export interface ThreadLink {
  /** The service of a contract that the other thread offers. */
  service<M extends Methods>(contract: Contract<M>): Service<Contract<M>>
  /** Resolves when the link is closed, by either side, or its thread has ended. */
  readonly gone: Promise<void>
  /** Fails open calls, and all later ones. */
  close(): void
}

/** Calls the services that another thread offers at the other end of the port. */
export function dialThread(port: MessagePort, { clock = systemClock }: { clock?: Clock } = {}): ThreadLink {
  const caller = new ThreadCaller(port, clock)
  return {
    service: (contract) => serviceOf(caller, contract),
    gone: caller.gone,
    close: () => caller.close(),
  }
}

function serviceOf<M extends Methods>(caller: ThreadCaller, { name, methods }: Contract<M>): Service<Contract<M>> {
  const service: Record<string, unknown> = {}
  for (const [method, { form, request, response, options }] of Object.entries(methods)) {
    const remote = {
      path: methodPath(name, method),
      request: codecOf(request),
      response: codecOf(response),
      idempotent: options.idempotent === true,
    }
    service[method] =
      form === 'unary'
        ? (message: unknown, context?: CallContext) => caller.ask(remote, message, context)
        : (message: unknown, context?: CallContext) => caller.stream(remote, message, context)
  }
  return service as unknown as Service<Contract<M>>
}

interface ThreadMethod {
  readonly path: string
  readonly request: Codec
  readonly response: Codec
  readonly idempotent: boolean
}

type Call = Extract<ThreadCall, { readonly kind: 'call' }>

interface Pending {
  readonly item: Call
  readonly idempotent: boolean
  wasSent: boolean
  readonly settle: () => void
  /** The answer, or a part of a stream. */
  readonly take: (payload: Uint8Array) => void
  readonly end: () => void
  readonly fail: (error: unknown) => void
}

/** The receiver of the replies to a call. */
type Receiver = Pick<Pending, 'take' | 'end' | 'fail'>

class ThreadCaller {
  readonly gone: Promise<void>
  readonly #port: MessagePort
  readonly #clock: Clock
  readonly #batches: Batches<ThreadCall>
  readonly #pending = new Map<number, Pending>()
  #lastId = 0
  #isGone = false

  constructor(port: MessagePort, clock: Clock) {
    this.#port = port
    this.#clock = clock
    this.#batches = batchesOver(port, threadCalls)
    onFrames(port, threadReplies, (reply) => this.#receive(reply))
    this.gone = new Promise((resolve) => {
      port.on('close', () => {
        this.#die()
        resolve()
      })
    })
  }

  close(): void {
    this.#die()
    this.#port.close()
  }

  async ask(method: ThreadMethod, message: unknown, context: CallContext = {}): Promise<unknown> {
    if (context.signal?.aborted) throw timeout('the call was cancelled')
    const payload = await new Promise<Uint8Array>((resolve, reject) => {
      this.#open(method, message, { context, receiver: { take: resolve, end: () => {}, fail: reject }, isStream: false })
    })
    return method.response.decode(payload)
  }

  stream(method: ThreadMethod, message: unknown, context: CallContext = {}): Stream<unknown> {
    const waiting = new PushStream<Uint8Array>()
    const receiver = {
      take: (part: Uint8Array) => waiting.push(part),
      end: () => waiting.end(),
      fail: (error: unknown) => waiting.fail(error),
    }
    const pending = context.signal?.aborted ? undefined : this.#open(method, message, { context, receiver, isStream: true })
    const close = () => {
      if (pending !== undefined) this.#cancel(pending)
      waiting.close()
    }
    if (pending === undefined) waiting.end()
    const iterator: AsyncIterator<unknown, undefined> = {
      next: async () => {
        const { value, done } = await waiting.next()
        if (done === true || value === undefined) return { value: undefined, done: true }
        if (pending !== undefined) this.#taken(pending, value.length + threadItemBytes)
        return { value: method.response.decode(value), done: false }
      },
      return: async () => {
        close()
        return { value: undefined, done: true }
      },
    }
    return { close, [Symbol.asyncIterator]: () => iterator }
  }

  #open(
    method: ThreadMethod,
    message: unknown,
    { context, receiver, isStream }: { readonly context: CallContext; readonly receiver: Receiver; readonly isStream: boolean },
  ): Pending | undefined {
    const { signal, timeoutMs, traceparent, requestId } = context
    const refusal = this.#refusal()
    if (refusal !== undefined) {
      receiver.fail(refusal)
      return undefined
    }
    this.#lastId += 1
    const item: Call = {
      kind: 'call',
      id: this.#lastId,
      method: method.path,
      payload: method.request.encode(message),
      timeoutMs: timeoutMs === undefined ? undefined : Math.ceil(timeoutMs),
      traceparent,
      requestId,
    }
    const cancel = () => {
      this.#cancel(pending)
      // A stream that its reader cancels ends, a call fails.
      if (isStream) receiver.end()
      else receiver.fail(pending.wasSent ? timeout('the call was cancelled') : new NotAskedError())
    }
    const late = () => {
      this.#cancel(pending)
      receiver.fail(pending.wasSent ? noAnswerInTime() : new NotAskedError())
    }
    const timer = timeoutMs === undefined ? undefined : afterPatience(this.#clock, timeoutMs, late)
    signal?.addEventListener('abort', cancel, { once: true })
    const settle = () => {
      this.#pending.delete(item.id)
      timer?.cancel()
      signal?.removeEventListener('abort', cancel)
    }
    const pending: Pending = { ...receiver, item, idempotent: isStream || method.idempotent, wasSent: false, settle }
    this.#pending.set(item.id, pending)
    this.#batches.push(item, item.payload.length + threadItemBytes, () => {
      pending.wasSent = true
    })
    return pending
  }

  #refusal(): Error | undefined {
    if (this.#isGone) return unreachable()
    const isFull = this.#pending.size >= rpcLimits.exchangeCallsMax || this.#batches.waitingBytes > rpcLimits.exchangeQueueBytesMax
    return isFull ? serviceUnavailable('too many calls wait for another thread', { retryAfterSeconds: 1 }) : undefined
  }

  #cancel(pending: Pending): void {
    const { item, settle } = pending
    if (this.#pending.get(item.id) !== pending) return
    settle()
    if (pending.wasSent || !this.#batches.retract(item)) this.#batches.push({ kind: 'cancel', id: item.id }, threadItemBytes)
  }

  #taken({ item }: Pending, bytes: number): void {
    if (this.#pending.has(item.id)) this.#batches.push({ kind: 'taken', id: item.id, bytes }, threadItemBytes)
  }

  #receive(reply: ThreadReply): void {
    const pending = this.#pending.get(reply.id)
    if (pending === undefined) return
    if (reply.kind !== 'part') pending.settle()
    switch (reply.kind) {
      case 'answer':
      case 'part':
        pending.take(reply.payload)
        break
      case 'failure':
        pending.fail(fromWireFailure(reply))
        break
      case 'end':
        pending.end()
        break
    }
  }

  /** A call that had left has an unknown outcome, unless it has no effect. */
  #die(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#batches.end()
    for (const pending of [...this.#pending.values()]) {
      pending.settle()
      const error = unreachable()
      pending.fail(pending.wasSent && !pending.idempotent ? new UnknownOutcomeError(error.status, { cause: error }) : error)
    }
  }
}

function unreachable() {
  return serviceUnavailable('a service cannot be reached', { retryAfterSeconds: 1 })
}
