import { UnknownOutcomeError } from '@orch/core/contracts'
import { internal, type Status, StatusError, serviceUnavailable, timeout } from '@orch/core/meta'

/** A failure in its encoded form. */
export interface WireFailure {
  readonly status: Status
  /** True if the callee does not know whether the call took effect. */
  readonly isUnknown: boolean
}

/** The failure that callers see. The text of an unexpected error appears only in the log, and its effect is unknown. */
export function toWireFailure(error: unknown): WireFailure {
  if (error instanceof StatusError) return { status: error.status, isUnknown: error instanceof UnknownOutcomeError }
  return { status: internal('an unexpected error in another service', { cause: error }).status, isUnknown: true }
}

/** The error for a failure of the other side. */
export function fromWireFailure({ status, isUnknown }: WireFailure, cause?: unknown): StatusError {
  return isUnknown ? new UnknownOutcomeError(status, { cause }) : new StatusError(status, { cause })
}

/** The call's time is over, and it was never sent. */
export class NotAskedError extends StatusError {
  override readonly name = 'NotAskedError'

  constructor() {
    super(timeout('a service could not be asked in time').status)
  }
}

/** The call's time is over; it may have taken effect. */
export function noAnswerInTime(cause?: unknown): UnknownOutcomeError {
  return new UnknownOutcomeError(timeout('a service has not answered in time').status, { cause })
}

/** The connection was lost or never established. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError'
  /** True if the call may have reached the other side. */
  readonly wasSent: boolean

  constructor(wasSent: boolean, options?: ErrorOptions) {
    super('a service cannot be reached', options)
    this.wasSent = wasSent
  }
}

/** The caller's error for a connection that was lost in the last attempt. */
export function toCallerError(error: unknown, { idempotent }: { idempotent: boolean }): unknown {
  if (!(error instanceof ConnectionLostError)) return error
  const unreachable = serviceUnavailable('a service cannot be reached', { cause: error, retryAfterSeconds: 1 })
  return error.wasSent && !idempotent ? new UnknownOutcomeError(unreachable.status, { cause: error }) : unreachable
}
