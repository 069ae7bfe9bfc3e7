import type { RunningServer, StartOptions } from './dist/index.cjs'

export { type RunningServer, type StartOptions, start } from './dist/index.cjs'

/** A server for the tests of a file or of a suite; before each of them it has the state of its start again. */
export declare function useServer(options?: StartOptions): RunningServer

/**
 * For the tests of a file or of a `describe`: makes each test out of what it does with a server of its own, a fork of one base, on which
 * `prepare` has been called.
 */
export declare function useForks(
  options?: StartOptions,
  prepare?: (base: RunningServer) => unknown,
): (body: (server: RunningServer) => unknown) => (...context: unknown[]) => Promise<void>
