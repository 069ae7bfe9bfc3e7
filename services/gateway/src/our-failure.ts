import { hasMembers } from '@orch/core/json'

/**
 * Whether an error is worth a line in the log and its stack: the server could not do what it should. A 501 names what this server
 * does not have, as a 404 names what is not there, and is an answer like that one.
 */
export function isOurFailure(error: unknown): boolean {
  const code = hasMembers(error) ? error['code'] : undefined
  return typeof code !== 'number' || (code >= 500 && code !== 501)
}
