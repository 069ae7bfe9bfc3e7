/** The process, as the client sees it. */
export interface CtlTerminal {
  readonly arguments: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
  readonly homeFolder: string
  /** Whether a person can type on standard input. */
  readonly isInteractive: boolean
  out(text: string): void
  error(text: string): void
  /** All of standard input. */
  readInput(): Promise<string>
  /** Raised when the person ends the command. */
  readonly signal: AbortSignal
}
