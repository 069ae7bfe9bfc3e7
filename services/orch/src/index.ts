/** A server of one's own, for tests and for programs that carry one inside. */
export { type RunningServer, type StartOptions, start } from './start.ts'
