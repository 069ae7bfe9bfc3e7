import type { TestAPI } from 'vitest'
import type { RunningServer, StartOptions } from './dist/index.js'

export { type RunningServer, type StartOptions, start } from './dist/index.js'
export { type GlobalTeardown, startGlobalServer } from './dist/testing.js'

/** A server for the tests of a file or of a `describe`; before each of them it has the state of its start again. */
export declare function useServer(options?: StartOptions): RunningServer

/** vitest's `test` with a fixture `server` of profile `kubernetes`, one per test file, reset before each test that uses it. */
export declare const test: TestAPI<{ readonly server: RunningServer }>
