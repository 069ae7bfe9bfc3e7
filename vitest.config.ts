import { defineConfig, mergeConfig } from 'vitest/config'

// Unit tests read the sources of the packages, so they need no build.
const conditions = ['source', 'module', 'node', 'development|production']

// Services apart do everything several times over: two gateways, storages and watches on the processors of one machine.
const isApart = process.env.ORCH_TEST_MODE === 'distributed'

/** What `npm test` and `npm run test:chaos` have in common. */
export const shared = defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['source', 'node', 'module-sync'] } },
  test: {
    exclude: ['**/dist/**', '**/node_modules/**'],
    globalSetup: ['scripts/temporary-folder.mjs', 'scripts/fetch-backends.mjs'],
    pool: 'forks',
    // What is waited for comes in milliseconds, but on a busy machine in seconds.
    expect: { requireAssertions: true, poll: { timeout: 15_000 } },
  },
})

/** `npm test`. */
export default mergeConfig(
  shared,
  defineConfig({
    test: {
      include: ['shared/**/*.test.{ts,mjs}', 'services/**/*.test.{ts,mjs}', 'test/**/*.test.{ts,mjs}', 'scripts/**/*.test.{ts,mjs}'],
      // Which tests a mode leaves out is looked up only where there is something to leave out.
      setupFiles: isApart ? ['test/modes/setup.ts'] : [],
      maxWorkers: 2,
      testTimeout: isApart ? 90_000 : 30_000,
      hookTimeout: isApart ? 120_000 : 60_000,
    },
  }),
)
