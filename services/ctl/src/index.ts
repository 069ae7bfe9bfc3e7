/** The command-line client. */
export { runCtl } from './run.ts'
export { configurationFiles } from './session.ts'
export type { Captured, CtlTerminal } from './terminal.ts'
