// Imports one file and not the whole package, since a program that must start quickly prints its errors with this.
import { inspect } from 'node:util'
import { certificateReason, withoutAdvice } from '@orch/core/certificate-error'

/** The message of an error, or the text of another thrown value. An untrusted certificate is described as in Go's clients. */
export function messageOf(error: unknown): string {
  if (typeof error === 'string') return error
  if (!(error instanceof Error) || typeof error.message !== 'string') return inspect(error)
  return certificateReason(error) ?? withoutAdvice(error.message)
}

/** The error code of the system or of Node, such as `ENOENT`; undefined without a code. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** The negative error number of the system; undefined without a number. */
export function systemErrnoOf(error: unknown): number | undefined {
  return error instanceof Error && 'errno' in error && typeof error.errno === 'number' ? error.errno : undefined
}

/** An error as printed in a log, with its stack. */
export function stackOf(error: unknown): string {
  return error instanceof Error && typeof error.stack === 'string' ? error.stack : messageOf(error)
}
