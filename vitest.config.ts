import { defineConfig } from 'vitest/config'

// Unit tests read the sources of the packages, so they need no build.
const conditions = ['source', 'module', 'node', 'development|production']

// Services apart do everything several times over: two gateways, storages and watches on the processors of one machine.
const isApart = process.env.ORCH_TEST_MODE === 'distributed'

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['source', 'node', 'module-sync'] } },
  test: {
    include: ['shared/**/*.test.{ts,mjs}', 'services/**/*.test.{ts,mjs}', 'test/**/*.test.{ts,mjs}', 'scripts/**/*.test.{ts,mjs}'],
    exclude: ['**/dist/**', '**/node_modules/**'],
    // Which tests a mode leaves out is looked up only where there is something to leave out.
    setupFiles: isApart ? ['test/modes/setup.ts'] : [],
    globalSetup: ['scripts/temporary-folder.mjs', 'scripts/fetch-backends.mjs'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: isApart ? 90_000 : 30_000,
    hookTimeout: isApart ? 120_000 : 60_000,
    // What is waited for comes in milliseconds, but on a busy machine in seconds.
    expect: { requireAssertions: true, poll: { timeout: 15_000 } },
  },
})
