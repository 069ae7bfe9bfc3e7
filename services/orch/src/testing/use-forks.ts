import { type RunningServer, start } from '../start/start.ts'
import type { StartOptions } from '../start/start-settings.ts'
import { leaveTrace } from './failed-test.ts'
import { stopStarted, type TestHooks } from './use-server.ts'

/** Wraps a test body that takes a separate server as its argument. */
export type InFork = (body: (server: RunningServer) => unknown) => (...context: unknown[]) => Promise<void>

/** Prepares the base server of a file's tests. */
export type Prepare = (base: RunningServer) => unknown

/** The hooks of a test framework for forks. */
export interface ForkHooks extends Pick<TestHooks, 'beforeAll' | 'afterAll'> {
  /** The name of the running test, from the arguments of its body; undefined if the framework does not tell it. */
  testName(...context: unknown[]): string | undefined
}

/**
 * A base server for the tests of a file or of a `describe`: it starts and is prepared before the first test, and stops after the last. Each test gets
 * a fork of it, so tests may run concurrently.
 */
export function createForkHook(hooks: ForkHooks): (options?: StartOptions, prepare?: Prepare) => InFork {
  return (options, prepare) => {
    let base: Promise<RunningServer> | undefined
    hooks.beforeAll(async () => {
      base = start(options)
      const started = await base
      await prepare?.(started)
    })
    hooks.afterAll(async () => {
      await stopStarted(base)
      base = undefined
    })
    // Some frameworks would pass the callback `done` to a function with a parameter.
    return (body) =>
      async (...context) => {
        if (base === undefined) throw new Error('useForks(): the base runs in tests alone')
        await using fork = await (await base).fork()
        try {
          await body(fork)
        } catch (failure) {
          await leaveTrace(fork, { name: hooks.testName(...context) ?? 'a test', failure })
          throw failure
        }
      }
  }
}
