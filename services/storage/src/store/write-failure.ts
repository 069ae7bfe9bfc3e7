import { statfsSync } from 'node:fs'
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

/** The code of an error: positive from the system, negative from lmdb. */
export function codeOf(error: unknown): number {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : Number.NaN
}

/** A failed write or flush of the data file. */
export function unwritable(path: string, reason: string, cause: unknown): Error {
  return new Error(`the data file ${path} can't be written (${reason}), and what it holds of the last writes is not certain`, { cause })
}

/** The sentence about a file of a data folder that could not be written or extended. */
export function explain(cause: unknown, directory: string): string {
  const { bavail, bsize } = statfsSync(directory)
  const text = cause instanceof Error ? cause.message : String(cause)
  return bavail * bsize < fullBelowBytes ? `the disk that holds ${directory} is full (${text})` : `${directory}: ${text}`
}

/** With less free room than this, a failed write counts as caused by a lack of room. */
const fullBelowBytes = 1024 * 1024
