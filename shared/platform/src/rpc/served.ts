import type { CallContext, ServiceRole } from '@orch/core/contracts'
import type { Clock } from '../clock.ts'
import type { Codec } from './codec.ts'
import type { Departure } from './departure.ts'
import type { Observe, RpcTelemetry } from './observe.ts'
import type { Work } from './work.ts'

/** The options shared by the methods of a server. */
export interface ServeOptions extends RpcTelemetry {
  readonly clock: Clock
  readonly work: Work
  readonly departure: Departure
  /** Raised when streams without an end of their own have to end. */
  readonly stopping: AbortSignal
  /** True if callers show certificates, and so have roles. */
  readonly hasRoles: boolean
}

/** A method that is ready to be called. */
export interface ServedMethod {
  readonly request: Codec
  readonly response: Codec
  readonly observe: Observe
  readonly isEndless: boolean
  /** Throws 403 where a role may not ask for this. */
  admit(role: ServiceRole | undefined, request: unknown): void
  call(request: unknown, context: CallContext): unknown
}
