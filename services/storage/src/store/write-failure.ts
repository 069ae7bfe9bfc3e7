import { statfsSync } from 'node:fs'
import { getSystemErrorMessage, getSystemErrorName } from 'node:util'
import { messageOf } from '@orch/platform'

/**
 * Reports why lmdb did not commit; it reports the reason later than the failure. Errors of the system use the system's wording, because lmdb's own
 * texts contain memory addresses.
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

/** The message about a file of a data folder that could not be written or extended. */
export function explain(cause: unknown, directory: string): string {
  const { bavail, bsize } = statfsSync(directory)
  const text = cause instanceof Error ? cause.message : String(cause)
  return bavail * bsize < fullBelowBytes ? `the disk that holds ${directory} is full (${text})` : `${directory}: ${text}`
}

/** If less space is free, a failed write is attributed to a lack of space. */
const fullBelowBytes = 1024 * 1024
