import type { TestAPI } from 'vitest'
import type { RunningServer, StartOptions } from './dist/index.js'

export { type RunningServer, type StartOptions, start } from './dist/index.js'
export { type GlobalTeardown, matchers, startGlobalServer } from './dist/testing.js'

/** A server for the tests of a file or of a `describe`; before each of them it has the state of its start again. */
export declare function useServer(options?: StartOptions): RunningServer

/** vitest's `test` with a fixture `server` of profile `kubernetes`: each test that uses it has one of its own, a fork of the file's. */
export declare const test: TestAPI<{ readonly server: RunningServer }>

/** The same with a base of these options, on which `prepare` has been called before the first test that uses the fixture. */
export declare function testWith(
  options?: StartOptions,
  prepare?: (base: RunningServer) => unknown,
): TestAPI<{ readonly server: RunningServer }>

/** The matchers, once `expect.extend(matchers)` was called. */
interface ServerMatchers {
  /** No watch is open, no object held, no namespace and no held lease left. */
  toHaveNoLeaks(): Promise<void>
  /** No client repeats itself without end: see `RunningServer.expectNoHotLoop`. */
  toHaveNoHotLoop(options?: Parameters<RunningServer['expectNoHotLoop']>[0]): Promise<void>
}

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: the parameter has to be as vitest declares it.
  interface Matchers<T = any> extends ServerMatchers {}
}
