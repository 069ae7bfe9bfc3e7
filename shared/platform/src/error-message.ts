// Not all of the metadata: a program that is to be there at once says its errors with this.
import { certificateReason, withoutAdvice } from '@orch/core/certificate-error'

/** The message of an error; the text of a thrown value that is none. An untrusted certificate is described as Go's clients do. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return certificateReason(error) ?? withoutAdvice(error.message)
}

/** The code that the system or Node gives an error, such as `ENOENT`; undefined where there is none. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** The number that the system gives an error, negative; undefined where there is none. */
export function systemErrnoOf(error: unknown): number | undefined {
  return error instanceof Error && 'errno' in error && typeof error.errno === 'number' ? error.errno : undefined
}

/** As it is printed for a log: with its stack. */
export function stackOf(error: unknown): string {
  return (error instanceof Error ? error.stack : undefined) ?? String(error)
}
