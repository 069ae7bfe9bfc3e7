import { hasMembers } from '@orch/core/json'
import { StatusError } from '@orch/core/meta'
import { type DestinationStream, destination, pino, stdSerializers, stdTimeFunctions } from 'pino'

/** Levels in ascending order; `silent` writes no lines. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
/** The lowest level that is written. */
export type LogLevel = (typeof logLevels)[number]

/** `json` is for machines, `text` for people. */
export const logFormats = ['json', 'text'] as const
/** The format of a line. */
export type LogFormat = (typeof logFormats)[number]

/** Fields of one line; an error is under `err`. */
export type LogFields = Readonly<Record<string, unknown>>

/** The log of a service. Calls pass the fields first, then a short message. */
export interface Log {
  trace(fields: LogFields, message: string): void
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  /** A log whose lines all carry these fields as well. */
  child(fields: LogFields): Log
}

export interface LogOptions {
  readonly level: LogLevel
  readonly format: LogFormat
  /** Receives whole lines, including the newline. Default: standard error. */
  readonly write?: (line: string) => void
}

/** A log that writes one line per call to standard error: JSON for machines, `text` for people. */
export function createLog({ level, format, write }: LogOptions): Log {
  const base = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: toLogged },
  }
  if (format === 'text') {
    const print = write ?? ((line: string) => void process.stderr.write(line))
    return pino(base, { write: (line) => print(printText(line)) })
  }
  const target: DestinationStream = write === undefined ? destination({ fd: 2, sync: true }) : { write }
  return pino(base, target)
}

const silence = () => {}

/** A log that drops every line, for tests and embedded servers. */
export const silentLog: Log = {
  trace: silence,
  debug: silence,
  info: silence,
  warn: silence,
  error: silence,
  child: () => silentLog,
}

/** Reduces a Status to its message and cause: it is an answer and not a fault, so its stack is useless. */
function toLogged(error: unknown): unknown {
  if (!(error instanceof StatusError) || error.code === 500) return error instanceof Error ? toFault(error) : error
  const { name: type, message, code } = error
  const cause = rootCauseOf(error)
  return { type, message, code, ...(cause === undefined || cause === message ? {} : { cause }) }
}

/** Serializes an error. The library marks errors while it follows their causes, which fails for frozen errors. */
function toFault(error: Error): unknown {
  try {
    return stdSerializers.err(error)
  } catch {
    const { name: type, message, stack } = error
    return { type, message, stack, cause: rootCauseOf(error) }
  }
}

/** The message of the first cause; undefined without a cause. */
function rootCauseOf(error: Error): string | undefined {
  let root: Error | undefined
  for (let next = error.cause; next instanceof Error; next = next.cause) root = next
  return root?.message
}

/** `12:00:01.123 info  request verb=get code=200` from one JSON line. */
function printText(line: string): string {
  const { level, time, msg, err, ...fields }: Readonly<Record<string, unknown>> = JSON.parse(line)
  const head = `${String(time).slice(11, 23)} ${String(level).padEnd(5)} ${String(msg ?? '')}`
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${printValue(value)}`)
  return `${head}${rest.join('')}${printError(err)}\n`
}

function printValue(value: unknown): string {
  return typeof value === 'string' && !/[\s"=]/.test(value) && value !== '' ? value : JSON.stringify(value)
}

function printError(error: unknown): string {
  if (!hasMembers(error)) return error === undefined ? '' : ` err=${printValue(error)}`
  const { stack, message, cause } = error
  if (stack === undefined && message !== undefined)
    return ` err=${printValue(message)}${cause === undefined ? '' : ` cause=${printValue(cause)}`}`
  return `\n  ${String(stack ?? message ?? JSON.stringify(error)).replaceAll('\n', '\n  ')}`
}
