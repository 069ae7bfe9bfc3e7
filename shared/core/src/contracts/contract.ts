import type { Message, Static, Union } from './message.ts'

// biome-ignore lint/suspicious/noExplicitAny: the type parameters are inferred, never written
type AnyMessage = Message<any> | Union<any>

/** One request, one response. */
export interface UnaryMethod<Q extends AnyMessage, S extends AnyMessage> {
  readonly form: 'unary'
  readonly request: Q
  readonly response: S
}

/** One request, many responses, until either side ends it. */
export interface StreamMethod<Q extends AnyMessage, S extends AnyMessage> {
  readonly form: 'stream'
  readonly request: Q
  readonly response: S
}

export interface Methods {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly [name: string]: UnaryMethod<any, any> | StreamMethod<any, any>
}

/** What one service offers to the others, as data: `platform/rpc` serves and dials it. */
export interface Contract<M extends Methods> {
  /** Full Protobuf service name: `orch.storage.v1.Storage`. */
  readonly name: string
  readonly methods: M
}

/** What travels beside a request. */
export interface CallContext {
  /** Cancels the call; a stream ends. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds that the caller still waits, counted from the call. The callee refuses a commit after it. */
  readonly timeoutMs?: number | undefined
  /** W3C `traceparent` of the request that this call belongs to. */
  readonly traceparent?: string | undefined
}

/**
 * Responses as they come. The producer is attached when the call returns, not when the first item is pulled.
 * `close()` (also by leaving a `for await`) releases everything that the stream holds.
 */
export interface Stream<T> extends AsyncIterable<T> {
  close(): void
}

/** The TypeScript interface of a contract, for those who offer it and those who call it. Failures are StatusErrors. */
export type Service<C> =
  C extends Contract<infer M>
    ? {
        readonly [N in keyof M]: M[N] extends UnaryMethod<infer Q, infer S>
          ? (request: Static<Q>, context?: CallContext) => Promise<Static<S>>
          : M[N] extends StreamMethod<infer Q, infer S>
            ? (request: Static<Q>, context?: CallContext) => Stream<Static<S>>
            : never
      }
    : never

export function unary<Q extends AnyMessage, S extends AnyMessage>(request: Q, response: S): UnaryMethod<Q, S> {
  return { form: 'unary', request, response }
}

export function stream<Q extends AnyMessage, S extends AnyMessage>(request: Q, response: S): StreamMethod<Q, S> {
  return { form: 'stream', request, response }
}

export function contract<const M extends Methods>(name: string, methods: M): Contract<M> {
  return { name, methods }
}
