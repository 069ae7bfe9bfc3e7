import { type LogFields, type LogFormat, systemClock } from '@orch/platform'

/** A sentence about a setting, or the reason why a command ends: for people with the name of the program, for machines as the log writes it. */
export function printComplaint(format: LogFormat, level: 'warn' | 'error', text: string): string {
  if (format === 'json') return printJsonLine(level, {}, text)
  return level === 'warn' ? `orch: warning: ${text}\n` : `orch: ${text}\n`
}

/** What a command says on standard output when it is ready: a text for people, fields for machines. */
export function printReadyLine(format: LogFormat, text: string, fields: LogFields): string {
  return format === 'json' ? printJsonLine('info', fields, 'ready') : text
}

/** As the log writes it, but whatever the level of the log is. */
function printJsonLine(level: string, fields: LogFields, message: string): string {
  return `${JSON.stringify({ level, time: new Date(systemClock.now()).toISOString(), ...fields, msg: message })}\n`
}
