/** The command-line client. */
export { runCtl } from './run.ts'
export type { CtlTerminal } from './terminal.ts'
