import type { RunningServer, StartOptions } from './dist/index.cjs'

export { type RunningServer, type StartOptions, start } from './dist/index.cjs'
export { matchers } from './dist/testing.cjs'

/** A server for the tests of a file or of a `describe`; before each of them it has the state of its start again. */
export declare function useServer(options?: StartOptions): RunningServer

/** A server for a whole run: until the returned function is called `KUBECONFIG` names its client configuration. */
export declare function startGlobalServer(options?: StartOptions): Promise<() => Promise<void>>

/**
 * For the tests of a file or of a `describe`: makes each test out of what it does with a server of its own, a fork of one base, on which
 * `prepare` has been called.
 */
export declare function useForks(
  options?: StartOptions,
  prepare?: (base: RunningServer) => unknown,
): (body: (server: RunningServer) => unknown) => (...context: unknown[]) => Promise<void>

declare global {
  namespace jest {
    /** The matchers, once `expect.extend(matchers)` was called. */
    interface Matchers<R> {
      /** No watch is open, no object held, no namespace and no held lease left. */
      toHaveNoLeaks(): Promise<R>
      /** No client goes on for ever: see `RunningServer.expectNoHotLoop`. */
      toHaveNoHotLoop(options?: Parameters<RunningServer['expectNoHotLoop']>[0]): Promise<R>
    }
  }
}
