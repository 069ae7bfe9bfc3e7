import { hasMembers } from '@orch/core/json'
import { UnreachedServer } from './respond.ts'

/**
 * Whether an error is worth a line in the log and its stack: the server could not do what it should. A 501 names what this server
 * does not have, as a 404 names what is not there, and is an answer like that one. Of a server behind that is away the condition of its
 * APIService says why.
 */
export function isOurFailure(error: unknown): boolean {
  if (error instanceof UnreachedServer) return false
  const code = hasMembers(error) ? error['code'] : undefined
  return typeof code !== 'number' || (code >= 500 && code !== 501)
}
