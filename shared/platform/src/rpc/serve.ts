import { once } from 'node:events'
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import type { CallContext, Contract, Methods, Service, Stream } from '@orch/core'
import { codecOf } from './codec.ts'
import { channelOptions, methodPath, traceparentKey } from './path.ts'
import { toGrpcError } from './status.ts'

/** A contract together with someone who fulfils it. */
export interface Offer {
  readonly definition: ServiceDefinition
  readonly implementation: UntypedServiceImplementation
}

/** A server of contracts, until it is closed. */
export interface RpcServer {
  /** Host and port that it listens on. */
  readonly address: string
  /** Ends what is in flight, streams included. */
  close(): void
}

/** Makes a service reachable by others under its contract. */
export function serveContract<M extends Methods>({ name, methods }: Contract<M>, service: Service<Contract<M>>): Offer {
  const definition: Record<string, MethodDefinition<unknown, unknown>> = {}
  const implementation: UntypedServiceImplementation = {}
  for (const [method, { form, request, response }] of Object.entries(methods)) {
    definition[method] = {
      path: methodPath(name, method),
      requestStream: false,
      responseStream: form === 'stream',
      ...serializers(request, response),
    }
    // The contract ties method and service together; TypeScript loses that in the loop.
    const call = (service as Readonly<Record<string, (request: unknown, context: CallContext) => unknown>>)[method]
    if (call === undefined) throw new TypeError(`the service has no method ${method}`)
    const bound = call.bind(service)
    implementation[method] = form === 'unary' ? answerOnce(bound as Unary) : answerMany(bound as Streaming)
  }
  return { definition, implementation }
}

/** Listens for calls of the offered contracts, unencrypted: for one machine. Port 0 takes any free one. */
export async function openRpcServer({ address, offers }: { address: string; offers: readonly Offer[] }): Promise<RpcServer> {
  const server = new Server(channelOptions)
  for (const { definition, implementation } of offers) server.addService(definition, implementation)
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, bound) => (error === null ? resolve(bound) : reject(error)))
  })
  const host = address.slice(0, address.lastIndexOf(':'))
  return { address: `${host}:${port}`, close: () => server.forceShutdown() }
}

type Unary = (request: unknown, context: CallContext) => Promise<unknown>
type Streaming = (request: unknown, context: CallContext) => Stream<unknown>

function serializers(request: Parameters<typeof codecOf>[0], response: Parameters<typeof codecOf>[0]) {
  return {
    requestSerialize: (message: unknown) => codecOf(request).encode(message),
    requestDeserialize: (bytes: Buffer) => codecOf(request).decode(bytes),
    responseSerialize: (message: unknown) => codecOf(response).encode(message),
    responseDeserialize: (bytes: Buffer) => codecOf(response).decode(bytes),
  }
}

function answerOnce(answer: Unary): handleUnaryCall<unknown, unknown> {
  return async (call, callback) => {
    try {
      callback(null, await answer(call.request, contextOf(call)))
    } catch (error) {
      callback(toGrpcError(error))
    }
  }
}

/** The reader's pace is kept: the next part is asked for when the one before it has found room. */
function answerMany(answer: Streaming): handleServerStreamingCall<unknown, unknown> {
  return async (call) => {
    const context = contextOf(call)
    try {
      const stream = answer(call.request, context)
      context.signal.addEventListener('abort', () => stream.close(), { once: true })
      for await (const part of stream) {
        if (context.signal.aborted) return
        if (!call.write(part)) await once(call, 'drain', { signal: context.signal })
      }
      call.end()
    } catch (error) {
      if (!context.signal.aborted) call.emit('error', toGrpcError(error))
    }
  }
}

function contextOf(call: ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>) {
  const cancelled = new AbortController()
  call.on('cancelled', () => cancelled.abort())
  const deadline = Number(call.getDeadline())
  const traceparent = call.metadata.get(traceparentKey)[0]
  return {
    signal: cancelled.signal,
    timeoutMs: Number.isFinite(deadline) ? Math.max(0, deadline - Date.now()) : undefined,
    traceparent: traceparent === undefined ? undefined : String(traceparent),
  }
}
