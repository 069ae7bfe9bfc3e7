import { hasMembers } from '@orch/core/json'
import { OutsideError, type Status, StatusError } from '@orch/core/meta'
import { OtherServerFailure } from './respond.ts'

/** A refusal by admission, which logs by itself what has failed there. */
export class AdmissionRefusal extends StatusError {
  constructor(status: Status) {
    super(status)
    this.name = 'AdmissionRefusal'
  }
}

/**
 * Whether an error is worth a line in the log and its stack: the server could not do what it should. A 501 names what this server
 * does not have, as a 404 names what is not there, and is an answer like that one. Of a server behind that is away the condition of its
 * APIService says why; admission says why it refuses; and what fails outside of the server has a line without a stack.
 */
export function isOurFailure(error: unknown): boolean {
  if (error instanceof OtherServerFailure || error instanceof OutsideError || error instanceof AdmissionRefusal) return false
  const code = hasMembers(error) ? error['code'] : undefined
  return typeof code !== 'number' || (code >= 500 && code !== 501)
}
