import { UnknownOutcomeError } from '@orch/core/contracts'
import { internal, type Status, StatusError, serviceUnavailable, timeout } from '@orch/core/meta'

/** A failure as it travels. */
export interface WireFailure {
  readonly status: Status
  /** The callee itself does not know whether the call had its effect. */
  readonly isUnknown: boolean
}

/** The failure as callers may see it. The text of an unexpected error stays in the log, and its effects are unknown. */
export function toWireFailure(error: unknown): WireFailure {
  if (error instanceof StatusError) return { status: error.status, isUnknown: error instanceof UnknownOutcomeError }
  return { status: internal('an unexpected error in another service', { cause: error }).status, isUnknown: true }
}

/** The failure that the other side had. */
export function fromWireFailure({ status, isUnknown }: WireFailure, cause?: unknown): StatusError {
  return isUnknown ? new UnknownOutcomeError(status, { cause }) : new StatusError(status, { cause })
}

/** The time is up, and the call has not left. */
export class NotAskedError extends StatusError {
  override readonly name = 'NotAskedError'

  constructor() {
    super(timeout('a service could not be asked in time').status)
  }
}

/** The time is up. What was asked for may have happened. */
export function noAnswerInTime(cause?: unknown): UnknownOutcomeError {
  return new UnknownOutcomeError(timeout('a service has not answered in time').status, { cause })
}

/** The connection died, or was never there. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError'
  /** True if the call may have reached the other side. */
  readonly wasSent: boolean

  constructor(wasSent: boolean, options?: ErrorOptions) {
    super('a service cannot be reached', options)
    this.wasSent = wasSent
  }
}

/** The caller's error for a lost connection, after the last attempt. */
export function toCallerError(error: unknown, { idempotent }: { idempotent: boolean }): unknown {
  if (!(error instanceof ConnectionLostError)) return error
  const unreachable = serviceUnavailable('a service cannot be reached', { cause: error, retryAfterSeconds: 1 })
  return error.wasSent && !idempotent ? new UnknownOutcomeError(unreachable.status, { cause: error }) : unreachable
}
