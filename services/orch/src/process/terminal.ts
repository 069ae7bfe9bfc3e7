import { type LogFields, type LogFormat, type StatusLine, systemClock } from '@orch/platform'
import type { StarterMessage } from './starter.ts'

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
