import { noStatusLine, type StatusLine } from '@orch/platform'

/** A program's output and its exit code. */
export interface Captured {
  readonly code: number
  readonly out: string
  readonly error: string
}

/** The process, as the client sees it. */
export interface CtlTerminal {
  readonly arguments: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
  readonly homeFolder: string
  /** Configuration of a nearby server, which precedes that of the home folder. */
  readonly nearConfiguration?: string
  /** True if a person can type on standard input. */
  readonly isInteractive: boolean
  /** True if standard output shows colours. */
  readonly hasColors: boolean
  /** Characters in a line of standard output; absent where that is no terminal. */
  lineWidth(): number | undefined
  out(text: string): void
  error(text: string): void
  /** All of standard input. */
  readInput(): Promise<string>
  /** Runs a program on this terminal; gives its exit code. */
  run(program: string, words: readonly string[]): Promise<number>
  /** Runs a program and returns its output; undefined if there is none of that name. */
  capture(program: string, words: readonly string[]): Promise<Captured | undefined>
  /** Shows the present step; absent where standard error is no terminal. */
  readonly statusLine?: StatusLine
  /** Raised when the person ends the command. */
  readonly signal: AbortSignal
}

/** A terminal with a status line, which gives way to all that is printed and to programs. */
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
