import { StatusError } from '../meta/status.ts'
import type { Message, Static, Union } from './message.ts'

// biome-ignore lint/suspicious/noExplicitAny: the type parameters are inferred, never written
type AnyMessage = Message<any> | Union<any>

/** The role of a caller: each service's certificate names its own. */
export type ServiceRole = (typeof serviceRoles)[number]
/** All roles. */
export const serviceRoles = ['gateway', 'storage', 'watch', 'admission', 'controllers', 'nodes'] as const

/** A method's options for the transport between two processes. In one process none of them matters. */
export interface MethodOptions<Q extends AnyMessage> {
  /** Roles that may call it; absent: every connected role. */
  readonly callers?: readonly ServiceRole[]
  /** Checked after `callers`, if a role's rights depend on the request. */
  readonly permits?: (role: ServiceRole, request: Static<Q>) => boolean
  /** Asking twice does no more than asking once: a call that was lost may be sent to another replica. */
  readonly idempotent?: boolean
  /**
   * Milliseconds in which a replica that is well answers this request, or gives the first part of a stream. After that the attempt
   * is given up: another replica is asked where `idempotent` allows it, and else the outcome is unknown. Absent: a call lasts as
   * long as its caller waits.
   */
  readonly answerMs?: (request: Static<Q>) => number
}

/** A call and its answer have two further ways to travel. */
export interface UnaryOptions<Q extends AnyMessage> extends MethodOptions<Q> {
  /** Called so often that calls travel together, many in one message of a stream that stays open. */
  readonly hot?: boolean
}

/** Streams differ in how they end. */
export interface StreamOptions<Q extends AnyMessage> extends MethodOptions<Q> {
  /** Goes on until one side ends it: a server that is about to stop does not wait for it. */
  readonly endless?: boolean
}

/** One request, one response. */
export interface UnaryMethod<Q extends AnyMessage, S extends AnyMessage> {
  readonly form: 'unary'
  readonly request: Q
  readonly response: S
  readonly options: UnaryOptions<Q>
}

/** One request, many responses, until either side ends it. */
export interface StreamMethod<Q extends AnyMessage, S extends AnyMessage> {
  readonly form: 'stream'
  readonly request: Q
  readonly response: S
  readonly options: StreamOptions<Q>
}

export interface Methods {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly [name: string]: UnaryMethod<any, any> | StreamMethod<any, any>
}

/** The methods that one service offers to the others, as data: `platform/rpc` serves and dials it. */
export interface Contract<M extends Methods> {
  /** Full Protobuf service name: `orch.storage.v1.Storage`. */
  readonly name: string
  readonly methods: M
  /** Roles of the services that may offer it, the usual one first; none: all do. */
  readonly offeredBy: readonly ServiceRole[]
}

/**
 * A call without an answer that may have been carried out: the connection died, or the time was up. Every other
 * StatusError of a call is an answer, or means that the call never left.
 */
export class UnknownOutcomeError extends StatusError {
  override readonly name = 'UnknownOutcomeError'
}

/** The context of a request. */
export interface CallContext {
  /** Cancels the call; a stream ends. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds that the caller still waits, counted from the call. The callee refuses a commit after it. */
  readonly timeoutMs?: number | undefined
  /** W3C `traceparent` of the request that this call belongs to. */
  readonly traceparent?: string | undefined
  /** Id of the client's request, for the logs of the services that work on it. */
  readonly requestId?: string | undefined
}

/**
 * Responses in their order. The producer is attached when the call returns, not when the first item is pulled.
 * `close()` (also by leaving a `for await`) releases everything that the stream holds.
 */
export interface Stream<T> extends AsyncIterable<T> {
  close(): void
}

/** The TypeScript interface of a contract, for both sides. Failures are StatusErrors. */
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

/** Describes a method with one answer. */
export function unary<Q extends AnyMessage, S extends AnyMessage>(
  request: Q,
  response: S,
  options: UnaryOptions<Q> = {},
): UnaryMethod<Q, S> {
  return { form: 'unary', request, response, options }
}

/** Describes a method with many answers. */
export function stream<Q extends AnyMessage, S extends AnyMessage>(
  request: Q,
  response: S,
  options: StreamOptions<Q> = {},
): StreamMethod<Q, S> {
  return { form: 'stream', request, response, options }
}

/** Describes a service. */
export function contract<const M extends Methods>(name: string, methods: M, ...offeredBy: readonly ServiceRole[]): Contract<M> {
  return { name, methods, offeredBy }
}
