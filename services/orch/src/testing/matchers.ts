import type { HotLoopOptions, RunningServer } from '../start/start.ts'

interface Outcome {
  readonly pass: boolean
  message(): string
}

/** Matchers for `expect.extend` of vitest and jest. */
export const matchers = {
  /** Passes if the test has left no open watch, no object with finalizers, no namespace and no held lease. */
  async toHaveNoLeaks(server: RunningServer): Promise<Outcome> {
    const leaks = await server.leaks()
    const message = () => (leaks.length === 0 ? 'the server has no leaks' : `the server has leaks:\n${leaks.join('\n')}`)
    return { pass: leaks.length === 0, message }
  },
  /** Passes if no client is in a loop: see `expectNoHotLoop`. */
  async toHaveNoHotLoop(server: RunningServer, options?: HotLoopOptions): Promise<Outcome> {
    try {
      await server.expectNoHotLoop(options)
    } catch (error) {
      return { pass: false, message: () => (error instanceof Error ? error.message : String(error)) }
    }
    return { pass: true, message: () => 'no client of the server is in a hot loop' }
  },
}
