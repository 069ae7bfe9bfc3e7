import { FileError, SettingsError } from '@orch/platform'

/** The server cannot start for a reason that the caller can remove. */
export class StartError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'StartError'
  }
}

/** Another program listens at the address. The start may succeed with another port. */
export class AddressTakenError extends StartError {
  /** `127.0.0.1:6443`. */
  readonly address: string

  constructor(message: string, { address, cause }: { readonly address: string; readonly cause?: unknown }) {
    super(message, { cause })
    this.name = 'AddressTakenError'
    this.address = address
  }
}

/** A mistake of the caller, or a system error, which names its call and object. */
export function isExpected(error: unknown): error is Error {
  if (error instanceof SettingsError || error instanceof StartError || error instanceof FileError) return true
  return error instanceof Error && 'syscall' in error && 'errno' in error
}
