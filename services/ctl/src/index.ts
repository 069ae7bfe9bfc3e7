/** The command-line client. */
export { runCtl } from './run.ts'
export type { Captured, CtlTerminal } from './terminal.ts'
