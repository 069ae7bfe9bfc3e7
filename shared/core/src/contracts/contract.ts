import { failed, StatusError } from '../meta/status.ts'
import type { Message, Static, Union } from './message.ts'

// biome-ignore lint/suspicious/noExplicitAny: the type parameters are inferred, never written
type AnyMessage = Message<any> | Union<any>

/** The role of a caller; a service's certificate names it. */
export type ServiceRole = (typeof serviceRoles)[number]
/** All roles. */
export const serviceRoles = ['gateway', 'storage', 'watch', 'admission', 'controllers', 'nodes'] as const

/** Options for calls between processes. They have no effect within one process. */
export interface MethodOptions<Q extends AnyMessage> {
  /** Roles that may call the method. Default: every connected role. */
  readonly callers?: readonly ServiceRole[]
  /** Checked after `callers`, for rights that depend on the request. */
  readonly permits?: (role: ServiceRole, request: Static<Q>) => boolean
  /** True if repeating a call is harmless, so that a lost call may be sent to another replica. */
  readonly idempotent?: boolean
  /**
   * Maximum time in milliseconds that a healthy replica needs to answer this request, or to send the first part of a stream. After it, the attempt
   * ends: an idempotent call goes to another replica, otherwise the outcome is unknown. Default: as long as
   * the caller waits.
   */
  readonly answerMs?: (request: Static<Q>) => number
}

/** Options of a method with one answer. */
export interface UnaryOptions<Q extends AnyMessage> extends MethodOptions<Q> {
  /** True for frequent calls, which travel in batches on an open stream. */
  readonly hot?: boolean
}

/** Options of a method with a stream of answers. */
export interface StreamOptions<Q extends AnyMessage> extends MethodOptions<Q> {
  /** True if the stream lasts until one side ends it, so that a stopping server does not wait for it. */
  readonly endless?: boolean
}

/** A method with one request and one response. */
export interface UnaryMethod<Q extends AnyMessage, S extends AnyMessage> {
  readonly form: 'unary'
  readonly request: Q
  readonly response: S
  readonly options: UnaryOptions<Q>
}

/** A method with one request and many responses, until either side ends the stream. */
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

/** The methods of a service as data, from which `platform/rpc` makes its server and client. */
export interface Contract<M extends Methods> {
  /** Full Protobuf service name: `orch.storage.v1.Storage`. */
  readonly name: string
  readonly methods: M
  /** Roles of services that may offer it, the usual one first; empty for all roles. */
  readonly offeredBy: readonly ServiceRole[]
}

/**
 * An unanswered call that may have been carried out: the connection died, or its time was over. Every other
 * StatusError of a call is an answer, or means that the call was never sent.
 */
export class UnknownOutcomeError extends StatusError {
  override readonly name = 'UnknownOutcomeError'
}

/** etcd's words, which clients recognize. */
const valueTooLargeText = 'etcdserver: request is too large'

/** The refusal of a value that is larger than the store accepts. */
export function valueTooLarge(options?: ErrorOptions): StatusError {
  return failed(500, '', valueTooLargeText, options)
}

/** True for an error of `valueTooLarge`, also from another process. */
export function isValueTooLarge(error: unknown): boolean {
  return error instanceof StatusError && error.status.message === valueTooLargeText
}

/** The context of a call. */
export interface CallContext {
  /** Cancels the call; a stream ends. */
  readonly signal?: AbortSignal | undefined
  /** The caller's remaining time in milliseconds when it makes the call. The callee refuses later commits. */
  readonly timeoutMs?: number | undefined
  /** The W3C `traceparent` of the request that caused this call. */
  readonly traceparent?: string | undefined
  /** The id of the client's request, for logs of the called services. */
  readonly requestId?: string | undefined
}

/**
 * Responses in order. The producer is attached when the call returns, not at the first pull.
 * `close()`, or leaving a `for await` loop, releases all resources of the stream.
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
