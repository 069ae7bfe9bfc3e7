import { type CallOptions, Metadata, type ServiceError } from '@grpc/grpc-js'
import { type CallContext, timeout } from '@orch/core'
import type { Clock } from '../clock.ts'
import type { Codec } from './codec.ts'
import type { Observe } from './observe.ts'
import { requestIdKey, traceparentKey } from './path.ts'
import type { Load, Pool } from './pool.ts'
import type { Replica } from './replica.ts'
import { ConnectionLostError, fromGrpcError, toCallerError } from './status.ts'

/** A method of somebody else's service. */
export interface RemoteMethod {
  readonly name: string
  readonly path: string
  readonly request: Codec
  readonly response: Codec
  readonly idempotent: boolean
  /** Its calls travel in batches. */
  readonly isHot: boolean
  readonly observe: Observe
  readonly pool: Pool
  readonly clock: Clock
}

/** Asks once; a second time, of another replica, where the first was never reached or asking twice does no harm. */
export async function callOnce(method: RemoteMethod, message: unknown, context: CallContext): Promise<unknown> {
  if (context.signal?.aborted) throw timeout('the call was cancelled')
  const observation = method.observe(context)
  try {
    const answer = await attempt(method, message, { ...context, traceparent: observation.traceparent })
    observation.end()
    return answer
  } catch (error) {
    const told = toCallerError(error, method)
    observation.end(told)
    throw told
  }
}

async function attempt(method: RemoteMethod, message: unknown, context: CallContext): Promise<unknown> {
  const startMs = method.clock.monotonic()
  const found = findReplica(method, 'call', context)
  // Without a pause, so that each of many calls of one turn counts before the next one chooses.
  const first = found instanceof Promise ? await found : found
  try {
    return await send(first, method, message, remaining(context, method.clock.monotonic() - startMs))
  } catch (error) {
    if (!mayRepeat(error, method)) throw error
    const left = remaining(context, method.clock.monotonic() - startMs)
    return send(await findReplica(method, 'call', left), method, message, left)
  }
}

/** A replica that takes calls; waits a moment where there is none. */
export function findReplica({ pool }: RemoteMethod, load: Load, context: CallContext): Replica | Promise<Replica> {
  return pool.pick(load) ?? pool.wait(load, context)
}

/** Whether the call may be sent again after this failure. */
export function mayRepeat(error: unknown, { idempotent }: RemoteMethod): boolean {
  return error instanceof ConnectionLostError && (idempotent || !error.wasSent)
}

/** What is left of the caller's time. */
function remaining(context: CallContext, elapsedMs: number): CallContext {
  return context.timeoutMs === undefined ? context : { ...context, timeoutMs: Math.max(0, context.timeoutMs - elapsedMs) }
}

async function send(replica: Replica, method: RemoteMethod, message: unknown, context: CallContext): Promise<unknown> {
  replica.inFlight.call += 1
  try {
    return await (method.isHot ? sendInBatch : sendAlone)(replica, method, message, context)
  } catch (error) {
    if (error instanceof ConnectionLostError) replica.suspect()
    throw error
  } finally {
    replica.inFlight.call -= 1
  }
}

async function sendInBatch(replica: Replica, { name, request, response }: RemoteMethod, message: unknown, context: CallContext) {
  return response.decode(await replica.exchange.send(name, request.encode(message) as Buffer, context))
}

function sendAlone(
  { client }: Replica,
  { path, request, response }: RemoteMethod,
  message: unknown,
  context: CallContext,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const cancel = () => call.cancel()
    const done = (error: ServiceError | null, answer?: unknown) => {
      context.signal?.removeEventListener('abort', cancel)
      if (error === null) resolve(answer)
      else reject(context.signal?.aborted ? timeout('the call was cancelled', { cause: error }) : fromGrpcError(error))
    }
    const decode = (bytes: Buffer) => response.decode(bytes)
    const call = client.makeUnaryRequest(path, request.encode, decode, message, metadataOf(context), optionsOf(context), done)
    context.signal?.addEventListener('abort', cancel, { once: true })
  })
}

/** What travels in the headers of a call. */
export function metadataOf({ traceparent, requestId }: CallContext): Metadata {
  const metadata = new Metadata()
  if (traceparent !== undefined) metadata.set(traceparentKey, traceparent)
  if (requestId !== undefined) metadata.set(requestIdKey, requestId)
  return metadata
}

/** The deadline of a call, in the words of gRPC. */
export function optionsOf({ timeoutMs }: CallContext): CallOptions {
  return timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs }
}
