import { type CallOptions, Metadata, type ServiceError } from '@grpc/grpc-js'
import type { CallContext } from '@orch/core/contracts'
import { timeout } from '@orch/core/meta'
import { onAbort } from '../abort.ts'
import { type Clock, systemClock } from '../clock.ts'
import type { Codec } from '../codec.ts'
import type { Patience } from './frame-caller.ts'
import { rpcLimits } from './limits.ts'
import type { Observe } from './observe.ts'
import { requestIdKey, traceparentKey } from './path.ts'
import type { Load, Pool } from './pool.ts'
import type { Replica } from './replica.ts'
import { fromGrpcError, isLate, lateEverywhere } from './status.ts'
import { ConnectionLostError, NotAskedError, toCallerError } from './wire-failure.ts'

/** A method of a service in another process, as its callers use it. */
export interface RemoteMethod {
  readonly name: string
  readonly path: string
  readonly request: Codec
  readonly response: Codec
  readonly idempotent: boolean
  /** The maximum time that a healthy replica needs for a request; undefined for the caller's own deadline. */
  answerMs(message: unknown): number | undefined
  /** True if calls travel in batches. */
  readonly isHot: boolean
  readonly observe: Observe
  readonly pool: Pool
  readonly clock: Clock
}

/** Makes a call. It is repeated on another replica if the first was not reached or if repeating is harmless. */
export async function callOnce(method: RemoteMethod, message: unknown, context: CallContext): Promise<unknown> {
  if (context.signal?.aborted) throw timeout('the call was cancelled')
  const observation = method.observe(context)
  try {
    const answer = await askUntilAnswered(method, message, { ...context, traceparent: observation.traceparent })
    observation.end()
    return answer
  } catch (error) {
    const callerError = toCallerError(error, method)
    observation.end(callerError)
    throw callerError
  }
}

async function askUntilAnswered(method: RemoteMethod, message: unknown, context: CallContext): Promise<unknown> {
  const startMs = method.clock.monotonic()
  const left = () => remaining(context, method.clock.monotonic() - startMs)
  for (let attempt = 1; ; attempt += 1) {
    const found = findReplica(method, 'call', attempt === 1 ? context : hurried(left(), method.clock.monotonic() - startMs))
    // Awaited only if needed: without a pause, each call of a turn counts before the next one chooses a replica.
    const replica = found instanceof Promise ? await found : found
    try {
      return await send(replica, method, message, { context: left(), answerMs: patience(method, message, attempt) })
    } catch (error) {
      const isOver = left().timeoutMs === 0 || context.signal?.aborted === true
      if (isOver || !mayRepeat(error, method)) throw error
      if (attempt === rpcLimits.attemptsMax) throw isLate(error) ? lateEverywhere(error) : error
    }
  }
}

/** The context for retrying a failed call, with the remaining time to wait for another replica. */
function hurried(context: CallContext, elapsedMs: number): CallContext {
  const { timeoutMs = Number.POSITIVE_INFINITY } = context
  return { ...context, timeoutMs: Math.min(timeoutMs, Math.max(0, rpcLimits.attemptsMs - elapsedMs)) }
}

/** The time of one attempt. A later attempt has more, since its replica may be equally busy. */
export function patience({ answerMs }: RemoteMethod, message: unknown, attempt: number): number | undefined {
  const once = answerMs(message)
  return once === undefined ? undefined : once * 2 ** (attempt - 1)
}

/** Returns a replica that accepts calls, after a short wait if there is none. */
export function findReplica({ pool }: RemoteMethod, load: Load, context: CallContext): Replica | Promise<Replica> {
  return pool.pick(load) ?? pool.wait(load, context)
}

/** True if the call may be sent again after this failure. */
export function mayRepeat(error: unknown, { idempotent }: RemoteMethod): boolean {
  if (error instanceof ConnectionLostError) return idempotent || !error.wasSent
  return error instanceof NotAskedError || (idempotent && isLate(error))
}

/** The context with the caller's remaining time. */
function remaining(context: CallContext, elapsedMs: number): CallContext {
  return context.timeoutMs === undefined ? context : { ...context, timeoutMs: Math.max(0, context.timeoutMs - elapsedMs) }
}

/** An attempt: the caller's request and the time that the replica has for it. */
interface Attempt {
  readonly context: CallContext
  readonly answerMs: number | undefined
}

async function send(replica: Replica, method: RemoteMethod, message: unknown, { context, answerMs }: Attempt): Promise<unknown> {
  const begunMs = method.clock.monotonic()
  const { timeoutMs = Number.POSITIVE_INFINITY } = context
  const isBounded = answerMs !== undefined && answerMs < timeoutMs
  const time = { begunMs, answerMs }
  const patient = isBounded ? { answerMs, unanswered: () => replica.isAwaited(begunMs), more: () => replica.patienceFor(time) } : undefined
  replica.inFlight.call += 1
  try {
    const sent = (method.isHot ? sendInBatch : sendAlone)({ replica, method, message, context, patient })
    const answer = await (method.idempotent && answerMs === undefined ? untilDoubt(sent, replica, method) : sent)
    replica.hasAnswered(time)
    return answer
  } catch (error) {
    if (error instanceof ConnectionLostError) replica.suspect()
    else if (!isLate(error)) replica.hasAnswered({ begunMs, answerMs: undefined })
    else if (isBounded) replica.wasLate(begunMs)
    throw error
  } finally {
    replica.inFlight.call -= 1
  }
}

/** Fails a long call as lost as soon as its replica is doubtful and another one is available. */
function untilDoubt(sent: Promise<unknown>, replica: Replica, { pool }: RemoteMethod): Promise<unknown> {
  const { promise: doubt, reject } = Promise.withResolvers<never>()
  const stop = replica.onDoubt(() => {
    if (pool.hasUndoubted) reject(new ConnectionLostError(true))
  })
  return Promise.race([sent, doubt]).finally(stop)
}

/** One message to one replica. */
interface Sending {
  readonly replica: Replica
  readonly method: RemoteMethod
  readonly message: unknown
  readonly context: CallContext
  readonly patient: Patience | undefined
}

async function sendInBatch({ replica, method: { name, request, response }, message, context, patient }: Sending): Promise<unknown> {
  return response.decode(await replica.exchange.send(name, request.encode(message), context, patient))
}

function sendAlone({ replica: { client }, method, message, context, patient }: Sending): Promise<unknown> {
  const { path, request, response } = method
  const options = optionsOf(patient === undefined ? context : { ...context, timeoutMs: patient.answerMs })
  return new Promise((resolve, reject) => {
    const cancel = () => call.cancel()
    const done = (error: ServiceError | null, answer?: unknown) => {
      context.signal?.removeEventListener('abort', cancel)
      if (error === null) resolve(answer)
      else reject(context.signal?.aborted ? timeout('the call was cancelled', { cause: error }) : fromGrpcError(error))
    }
    const decode = (bytes: Buffer) => response.decode(bytes)
    const call = client.makeUnaryRequest(path, request.encode, decode, message, metadataOf(context), options, done)
    onAbort(context.signal, cancel)
  })
}

export function metadataOf({ traceparent, requestId }: CallContext): Metadata {
  const metadata = new Metadata()
  if (traceparent !== undefined) metadata.set(traceparentKey, traceparent)
  if (requestId !== undefined) metadata.set(requestIdKey, requestId)
  return metadata
}

/** The gRPC options of a call with its deadline. */
export function optionsOf({ timeoutMs }: CallContext): CallOptions {
  return timeoutMs === undefined ? {} : { deadline: systemClock.now() + timeoutMs }
}
