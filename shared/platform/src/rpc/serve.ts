import { once } from 'node:events'
import type {
  handleBidiStreamingCall,
  handleServerStreamingCall,
  handleUnaryCall,
  Metadata,
  MethodDefinition,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  UntypedServiceImplementation,
} from '@grpc/grpc-js'
import type { Stream } from '@orch/core/contracts'
import { serviceUnavailable } from '@orch/core/meta'
import { onAbort } from '../abort.ts'
import { systemClock } from '../clock.ts'
import type { Codec } from '../codec.ts'
import { callerOf } from './credentials.ts'
import { FrameCallee } from './frame-callee.ts'
import { type CallFrame, callFrames, type ReplyFrame, replyFrames } from './frames.ts'
import { calleeOverGrpc } from './grpc-port.ts'
import type { Offer } from './offer.ts'
import { exchangeMethod, methodPath, requestIdKey, traceparentKey } from './path.ts'
import { type ServedMethod, type ServeOptions, servedMethods } from './served.ts'
import { toGrpcError } from './status.ts'

/** A contract's service for gRPC. */
export interface GrpcService {
  readonly definition: ServiceDefinition
  readonly implementation: UntypedServiceImplementation
}

export function bindOffer(offer: Offer, options: ServeOptions): GrpcService {
  const { name } = offer.contract
  const definition: Record<string, MethodDefinition<unknown, unknown>> = {}
  const implementation: UntypedServiceImplementation = {}
  const hot = new Map<string, ServedMethod>()
  for (const [method, served] of servedMethods(offer, options)) {
    const { form, request, response, isHot } = served
    const path = methodPath(name, method)
    definition[method] = { path, requestStream: false, responseStream: form === 'stream', ...serializers(request, response) }
    implementation[method] = form === 'unary' ? answerOnce(served, options) : answerMany(served, options)
    if (isHot) hot.set(method, served)
  }
  if (hot.size > 0) {
    const path = methodPath(name, exchangeMethod)
    definition[exchangeMethod] = { path, requestStream: true, responseStream: true, ...serializers(callFrames, replyFrames) }
    implementation[exchangeMethod] = answerBatches(hot, options) as UntypedServiceImplementation[string]
  }
  return { definition, implementation }
}

/** Serializers in the form that gRPC expects. */
function serializers(request: Codec, response: Codec) {
  return {
    requestSerialize: (message: unknown) => request.encode(message),
    requestDeserialize: (bytes: Buffer) => request.decode(bytes),
    responseSerialize: (message: unknown) => response.encode(message),
    responseDeserialize: (bytes: Buffer) => response.decode(bytes),
  }
}

/** Answers the calls of batch streams. */
function answerBatches(
  methods: ReadonlyMap<string, ServedMethod>,
  { clock, work, departure }: ServeOptions,
): handleBidiStreamingCall<CallFrame, ReplyFrame> {
  return (stream) => void new FrameCallee(calleeOverGrpc(stream), { methods, clock, work, departure, role: callerOf(stream) })
}

function answerOnce(method: ServedMethod, { work }: ServeOptions): handleUnaryCall<unknown, unknown> {
  return async (call, callback) => {
    const context = contextOf(call)
    const observation = method.observe(context)
    const done = work.begin()
    try {
      method.admit(callerOf(call), call.request)
      const answer = await method.call(call.request, { ...context, traceparent: observation.traceparent })
      observation.end()
      callback(null, answer)
    } catch (error) {
      observation.end(error)
      callback(toGrpcError(error))
    } finally {
      done()
    }
  }
}

/** Follows the reader's pace: the next part is taken when the previous one has been accepted. */
function answerMany(method: ServedMethod, { work, stopping }: ServeOptions): handleServerStreamingCall<unknown, unknown> {
  return async (call) => {
    const context = contextOf(call)
    const observation = method.observe(context)
    const done = method.isEndless ? () => {} : work.begin()
    let stream: Stream<unknown> | undefined
    const close = () => stream?.close()
    try {
      method.admit(callerOf(call), call.request)
      stream = method.call(call.request, { ...context, traceparent: observation.traceparent }) as Stream<unknown>
      onAbort(context.signal, close)
      if (method.isEndless) onAbort(stopping, close)
      for await (const part of stream) {
        observation.end()
        if (context.signal.aborted) return
        if (!call.write(part)) await once(call, 'drain', { signal: context.signal })
      }
      if (method.isEndless && stopping.aborted) throw serviceUnavailable('the service is about to stop', { retryAfterSeconds: 1 })
      call.end()
      observation.end()
    } catch (error) {
      observation.end(error)
      if (!context.signal.aborted) call.emit('error', toGrpcError(error))
    } finally {
      stopping.removeEventListener('abort', close)
      done()
    }
  }
}

function contextOf(call: ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>) {
  const cancelled = new AbortController()
  call.on('cancelled', () => cancelled.abort())
  const deadline = Number(call.getDeadline())
  return {
    signal: cancelled.signal,
    timeoutMs: Number.isFinite(deadline) ? Math.max(0, deadline - systemClock.now()) : undefined,
    traceparent: textOf(call.metadata, traceparentKey),
    requestId: textOf(call.metadata, requestIdKey),
  }
}

function textOf(metadata: Metadata, key: string): string | undefined {
  const value = metadata.get(key)[0]
  return value === undefined ? undefined : String(value)
}
