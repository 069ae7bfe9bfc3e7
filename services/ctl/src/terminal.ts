import { noStatusLine, type StatusLine } from '@orch/platform'

/** A program's output and its exit code. */
export interface Captured {
  readonly code: number
  readonly out: string
  readonly error: string
}

/** The process environment of the client. */
export interface CtlTerminal {
  readonly arguments: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
  readonly homeFolder: string
  /** Configuration of a local server, which precedes that of the home folder. */
  readonly nearConfiguration?: string
  /** True if standard input is a terminal. */
  readonly isInteractive: boolean
  /** True if standard output shows colours. */
  readonly hasColors: boolean
  /** Width of standard output; undefined without a terminal. */
  lineWidth(): number | undefined
  out(text: string): void
  error(text: string): void
  /** All of standard input. */
  readInput(): Promise<string>
  /** Runs a program on this terminal; returns its exit code. */
  run(program: string, words: readonly string[]): Promise<number>
  /** Runs a program and returns its output; undefined if it does not exist. */
  capture(program: string, words: readonly string[]): Promise<Captured | undefined>
  /** Shows the current step; undefined if standard error is not a terminal. */
  readonly statusLine?: StatusLine
  /** Aborted when the user ends the command. */
  readonly signal: AbortSignal
}

/** A terminal with a status line, which is hidden for other output and programs. */
export type StatusTerminal = CtlTerminal & { readonly statusLine: StatusLine }

/** The terminal as commands use it. */
export function withStatusLine(terminal: CtlTerminal): StatusTerminal {
  const { statusLine = noStatusLine } = terminal
  return {
    ...terminal,
    statusLine,
    out(text) {
      statusLine.giveWayTo(text)
      terminal.out(text)
    },
    error(text) {
      statusLine.giveWayTo(text)
      terminal.error(text)
    },
    run: (program, words) => statusLine.suspendedWhile(() => terminal.run(program, words)),
  }
}
