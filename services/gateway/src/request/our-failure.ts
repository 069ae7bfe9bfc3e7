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

/** A refusal that a fault of a test has made. */
export class InjectedRefusal extends StatusError {}

/**
 * True if an error deserves a line in the log and its stack: the server could not do its work. A 501 names a feature that this server
 * lacks, as a 404 names an absent object, and is an answer like that one. For an unavailable remote server the condition of its
 * APIService gives the reason; admission gives the reason of its refusals; and a failure outside the server has a line without a stack.
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
