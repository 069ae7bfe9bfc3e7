import type { TestAPI } from 'vitest'
import type { RunningServer, StartOptions } from './dist/index.js'

export { type RunningServer, type StartOptions, start } from './dist/index.js'
export { type GlobalTeardown, matchers, startGlobalServer } from './dist/testing.js'

/** A server for the tests of a file or of a `describe`, which is reset before each test. */
export declare function useServer(options?: StartOptions): RunningServer

/** vitest's `test` with a fixture `server` of profile `kubernetes`: each test that uses it gets a fork of the file's server. */
export declare const test: TestAPI<{ readonly server: RunningServer }>

/** Like `test`, with a base server of these options. `prepare` is called on it before the first test. */
export declare function testWith(
  options?: StartOptions,
  prepare?: (base: RunningServer) => unknown,
): TestAPI<{ readonly server: RunningServer }>

/** The matchers, after `expect.extend(matchers)`. */
interface ServerMatchers {
  /** No open watch, held object, namespace or held lease is left. */
  toHaveNoLeaks(): Promise<void>
  /** No client repeats requests without end: see `RunningServer.expectNoHotLoop`. */
  toHaveNoHotLoop(options?: Parameters<RunningServer['expectNoHotLoop']>[0]): Promise<void>
}

declare global {
  // The interfaces of vitest have other parameters in each major version.
  namespace Chai {
    interface Assertion extends ServerMatchers {}
  }
}
