import { defineConfig, mergeConfig } from 'vitest/config'
import { testsApart } from './test/modes/apart.ts'
import SlowestFirst from './test/modes/order.ts'

// Unit tests read the sources of the packages, so they need no build.
const conditions = ['source', 'module', 'node', 'development|production']

// Services apart do everything several times over: two gateways, storages and watches on the processors of one machine.
const isApart = process.env.ORCH_TEST_MODE === 'distributed'

const neither = ['**/dist/**', '**/node_modules/**']

/** The common configuration of `npm test`, `npm run test:chaos` and `npm run test:clients`. */
export const shared = defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['source', 'node', 'module-sync'] } },
  test: {
    exclude: neither,
    globalSetup: ['scripts/temporary-folder.mjs', 'scripts/fetch-backends.mjs'],
    pool: 'forks',
    // Programs in Go run briefly here: etcd, NATS, kubectl, helm. By default a quarter of their CPU is garbage collection in a small heap.
    env: { GOGC: '400' },
    // Events come in milliseconds. These bounds are for events that never come: a busy machine does not reach them.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { requireAssertions: true, poll: { timeout: 90_000 } },
    // Titles name the values of their rows whole.
    taskTitleValueFormatTruncate: 0,
  },
})

/**
 * Tests of the process that they run in: its memory, handles and environment. Each of these files runs in a separate process. In a process that has run
 * other files, a test that counts objects on the heap would search half a gigabyte.
 */
const alone = [
  'scripts/temporary-folder.test.mjs',
  'services/orch/src/start/start.test.ts',
  'test/abuse/released-objects.test.ts',
  'test/abuse/slow-readers.test.ts',
  'test/identity/system-authorities.test.ts',
]

const everywhere = ['{shared,services,test}/**/*.test.ts', '{scripts,site}/**/*.test.mjs']

/** The tests that run once more with services apart, beside the others; none where only some files were asked for. */
const apart = process.env.ORCH_TEST_APART === undefined ? [] : testsApart(process.env.ORCH_TEST_APART)

/** `npm test`. */
export default mergeConfig(
  shared,
  defineConfig({
    test: {
      // The tests that a mode leaves out are looked up only if it leaves some out.
      setupFiles: isApart ? ['test/modes/setup.ts'] : [],
      // On a small machine of two processors one more, as tests wait for other processes. A fourth worker costs a tenth more CPU and 30 s.
      maxWorkers: 3,
      // Node loads the modules, and its compile cache has them for the next process. Vite would read each import through a getter.
      experimental: { viteModuleRunner: false, nodeLoader: false },
      sequence: { sequencer: SlowestFirst },
      projects: [
        {
          extends: true,
          // A process takes file after file: reading the sources anew for each would cost half of the CPU of a run.
          test: { name: 'together', include: everywhere, exclude: [...neither, ...alone], isolate: false },
        },
        { extends: true, test: { name: 'alone', include: alone } },
        ...(apart.length === 0
          ? []
          : [
              {
                extends: true as const,
                test: {
                  name: 'apart',
                  include: [...apart],
                  isolate: false,
                  env: { ORCH_TEST_MODE: 'distributed' },
                  setupFiles: ['test/modes/setup.ts'],
                },
              },
            ]),
      ],
    },
  }),
)
