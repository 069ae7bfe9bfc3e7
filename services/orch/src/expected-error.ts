import { FileError, SettingsError } from '@orch/platform'
import { StartError } from './start-error.ts'

/** A mistake of the caller, or something that the system refuses: what a call of the system throws says which and of what. */
export function isExpected(error: unknown): error is Error {
  if (error instanceof SettingsError || error instanceof StartError || error instanceof FileError) return true
  return error instanceof Error && 'syscall' in error && 'errno' in error
}
