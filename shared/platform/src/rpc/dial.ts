import { type CallOptions, Client, type ClientReadableStream, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { type CallContext, type Contract, type Methods, type Service, type Stream, timeout } from '@orch/core'
import { type Codec, codecOf } from './codec.ts'
import { channelOptions, methodPath, traceparentKey } from './path.ts'
import { fromGrpcError } from './status.ts'

/** Somebody else's service, until the connection is closed. */
export interface Dialled<S> {
  readonly service: S
  close(): void
}

interface Method {
  readonly client: Client
  readonly path: string
  readonly request: Codec
  readonly response: Codec
}

/** A contract's service at an address, unencrypted: for one machine. The connection is made at the first call and again when it is lost. */
export function dialContract<M extends Methods>(contract: Contract<M>, address: string): Dialled<Service<Contract<M>>> {
  const client = new Client(address, credentials.createInsecure(), channelOptions)
  const service: Record<string, unknown> = {}
  for (const [name, { form, request, response }] of Object.entries(contract.methods)) {
    const method: Method = { client, path: methodPath(contract.name, name), request: codecOf(request), response: codecOf(response) }
    service[name] =
      form === 'unary'
        ? (message: unknown, context?: CallContext) => callOnce(method, message, context ?? {})
        : (message: unknown, context?: CallContext) => openStream(method, message, context ?? {})
  }
  // Built from the contract, one method for each of its own.
  return { service: service as unknown as Service<Contract<M>>, close: () => client.close() }
}

function callOnce({ client, path, request, response }: Method, message: unknown, context: CallContext): Promise<unknown> {
  if (context.signal?.aborted) return Promise.reject(timeout('the call was cancelled'))
  return new Promise((resolve, reject) => {
    const cancel = () => call.cancel()
    const done = (error: ServiceError | null, answer?: unknown) => {
      context.signal?.removeEventListener('abort', cancel)
      if (error === null) resolve(answer)
      else reject(fromGrpcError(error))
    }
    const call = client.makeUnaryRequest(path, request.encode, decoder(response), message, metadataOf(context), optionsOf(context), done)
    context.signal?.addEventListener('abort', cancel, { once: true })
  })
}

function openStream({ client, path, request, response }: Method, message: unknown, context: CallContext): Stream<unknown> {
  const metadata = metadataOf(context)
  const call = client.makeServerStreamRequest(path, request.encode, decoder(response), message, metadata, optionsOf(context))
  return new CallStream(call, context.signal)
}

/** The parts of a call, pulled one by one: what is not read stays with the sender. */
class CallStream implements Stream<unknown>, AsyncIterator<unknown, undefined> {
  readonly #call: ClientReadableStream<unknown>
  readonly #parts: AsyncIterator<unknown>
  readonly #signal: AbortSignal | undefined
  #closed = false

  constructor(call: ClientReadableStream<unknown>, signal: AbortSignal | undefined) {
    this.#call = call
    this.#signal = signal
    this.#parts = call[Symbol.asyncIterator]()
    // The iterator reports the error; without a listener an unread stream would end the process.
    call.on('error', () => {})
    if (signal?.aborted) this.close()
    signal?.addEventListener('abort', this.close, { once: true })
  }

  async next(): Promise<IteratorResult<unknown, undefined>> {
    if (this.#closed) return { value: undefined, done: true }
    try {
      const { value, done } = await this.#parts.next()
      if (done !== true && !this.#closed) return { value, done: false }
    } catch (error) {
      if (!this.#closed) {
        this.#release()
        throw fromGrpcError(error as ServiceError)
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
    this.#call.cancel()
  };

  [Symbol.asyncIterator](): this {
    return this
  }

  #release(): void {
    this.#closed = true
    this.#signal?.removeEventListener('abort', this.close)
  }
}

function decoder(codec: Codec): (bytes: Buffer) => unknown {
  return (bytes) => codec.decode(bytes)
}

function metadataOf({ traceparent }: CallContext): Metadata {
  const metadata = new Metadata()
  if (traceparent !== undefined) metadata.set(traceparentKey, traceparent)
  return metadata
}

function optionsOf({ timeoutMs }: CallContext): CallOptions {
  return timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs }
}
