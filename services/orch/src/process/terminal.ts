import { FileError, type LogFields, type LogFormat, SettingsError, type StatusLine, systemClock } from '@orch/platform'

/** The process as commands see it. */
export interface Terminal {
  readonly arguments: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
  out(text: string): void
  error(text: string): void
  /** Shows the current step; undefined if standard error is not a terminal. */
  readonly statusLine?: StatusLine
  /** Sends a message to the process that started this one; resolves when the message is sent. Undefined without such a process. */
  notify?(message: StarterMessage): Promise<void>
}

/**
 * A sentence about a setting, or the reason why a command fails. For people it starts with the program's name; for machines it has the log's format.
 */
export function printComplaint(format: LogFormat, level: 'warn' | 'error', text: string): string {
  if (format === 'json') return printJsonLine(level, {}, text)
  return level === 'warn' ? `orch: warning: ${text}\n` : `orch: ${text}\n`
}

/** The ready line of a command on standard output: a text for people, fields for machines. */
export function printReadyLine(format: LogFormat, text: string, fields: LogFields): string {
  return format === 'json' ? printJsonLine('info', fields, 'ready') : text
}

/** Written in the log's format at any log level. */
function printJsonLine(level: string, fields: LogFields, message: string): string {
  return `${JSON.stringify({ level, time: new Date(systemClock.now()).toISOString(), ...fields, msg: message })}\n`
}

/** Maximum shutdown time of a process whose parent has ended, because no clients remain. */
const orphanStopMs = 5_000

/** A message of a process to `orch up --distributed`, which has started it. */
export type StarterMessage =
  | ({ readonly kind: 'ready' } & ReadyMessage)
  /** The process ends. `takenAddress` is a given address at which another program listens. */
  | { readonly kind: 'failed'; readonly reason: string; readonly takenAddress?: string }

/** The addresses of a ready process, by purpose: `{ address: '127.0.0.1:7100' }`. */
export type ReadyMessage = Readonly<Record<string, string>>

/** Resolves when the message is sent or the starter has ended; at once for a process without a starter. */
export function notifyStarter(message: StarterMessage): Promise<void> {
  if (!process.connected) return Promise.resolve()
  return new Promise((resolve) => process.send?.(message, () => resolve()))
}

/**
 * Ends this process shortly after `orch up --distributed`, which started it, has ended for any reason. If this process is already stopping, the
 * signal counts as a second one and ends it at once.
 */
export function endWithStarter(): void {
  if (process.send === undefined) return
  const end = () => {
    process.kill(process.pid, 'SIGTERM')
    setTimeout(() => process.kill(process.pid, 'SIGTERM'), orphanStopMs).unref()
  }
  // The starter may have ended while this process was loading.
  if (!process.connected) return void end()
  process.once('disconnect', end)
  // Otherwise the channel would keep a process alive that failed to start.
  process.channel?.unref()
}

/** A word of a command line for a POSIX shell. */
export function shellQuote(text: string): string {
  return /^[\w./:@=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

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
