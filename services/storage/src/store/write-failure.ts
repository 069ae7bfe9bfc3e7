import { getSystemErrorMessage, getSystemErrorName } from 'node:util'
import { messageOf } from '@orch/platform'

/**
 * Why lmdb has not committed, which it tells later than that it has not. The system's errors are said in the system's words; lmdb's own text
 * for them has places in its memory.
 */
export async function reasonOf(error: unknown): Promise<string> {
  const reason = error instanceof Error && 'commitError' in error ? error.commitError : undefined
  const cause = reason instanceof Promise ? await reason.catch((reason: unknown) => reason) : error
  const code = codeOf(cause)
  return code > 0 ? `${getSystemErrorName(-code)}: ${getSystemErrorMessage(-code)}` : messageOf(cause)
}

/** Of the system where it is above 0, of lmdb where it is below. */
export function codeOf(error: unknown): number {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : Number.NaN
}

/** A write or flush of the data file that failed. */
export function unwritable(path: string, reason: string, cause: unknown): Error {
  return new Error(`the data file ${path} can't be written (${reason}), and what it holds of the last writes is not certain`, { cause })
}
