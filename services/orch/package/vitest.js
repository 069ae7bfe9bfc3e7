import { afterAll, afterEach, test as base, beforeAll, beforeEach } from 'vitest'
import native from './native-require.cjs'

const { createServerHook, leaveTrace, matchers, startGlobalServer } = native('./dist/testing.js')
export const { start } = native('./dist/index.js')
export { matchers, startGlobalServer }

// A first start takes seconds on a machine under load.
const startMs = 60_000

/** The failed test for its trace; undefined for any other test. */
function failedTest({ fullTestName, name, result }) {
  if (result?.state !== 'fail') return undefined
  const [failure] = result.errors ?? []
  return { name: fullTestName ?? name, failure: failure?.stack ?? failure?.message }
}

export const useServer = createServerHook({
  beforeAll: (hook) => beforeAll(hook, startMs),
  beforeEach: (hook) => beforeEach(hook, startMs),
  afterAll: (hook) => afterAll(hook, startMs),
  afterFailed: (hook) =>
    afterEach(async ({ task }) => {
      const failed = failedTest(task)
      if (failed !== undefined) await hook(failed)
    }),
})

export const testWith = (options, prepare) =>
  base
    .extend({
      $base: [
        // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures this one needs.
        async ({}, use) => {
          const server = await start(options)
          await prepare?.(server)
          await use(server)
          await server.stop()
        },
        { scope: 'file' },
      ],
    })
    .extend({
      server: async ({ $base, task }, use) => {
        const fork = await $base.fork()
        await use(fork)
        const failed = failedTest(task)
        if (failed !== undefined) await leaveTrace(fork, failed)
        await fork.stop()
      },
    })

export const test = testWith({ profile: 'kubernetes' })
