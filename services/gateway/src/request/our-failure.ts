import { hasMembers } from '@orch/core/json'
import { OutsideError, type Status, StatusError } from '@orch/core/meta'
import { OtherServerFailure } from './respond.ts'

/** A refusal by admission, which logs its own failures. */
export class AdmissionRefusal extends StatusError {
  constructor(status: Status) {
    super(status)
    this.name = 'AdmissionRefusal'
  }
}

/** A refusal by a fault of a test. */
export class InjectedRefusal extends StatusError {}

/**
 * True if an error deserves a log line with its stack, as the server has failed. A 501 names a missing feature, like a 404 a missing object, and is an
 * answer. For an unavailable remote server the condition of its APIService has the reason; admission returns the reason of its refusals; and a failure
 * outside the server has a line without a stack.
 */
export function isOurFailure(error: unknown): boolean {
  if (
    error instanceof OtherServerFailure ||
    error instanceof OutsideError ||
    error instanceof AdmissionRefusal ||
    error instanceof InjectedRefusal
  )
    return false
  const code = hasMembers(error) ? error['code'] : undefined
  return typeof code !== 'number' || (code >= 500 && code !== 501)
}
