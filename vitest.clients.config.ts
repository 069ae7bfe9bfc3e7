import { defineConfig, mergeConfig } from 'vitest/config'
import { shared } from './vitest.config.ts'

/** `npm run test:clients`: unmodified clients of others, which compilers build and package registries hold. */
export default mergeConfig(
  shared,
  defineConfig({
    test: { include: ['test/clients/*.clients.ts'], maxWorkers: 1, testTimeout: 900_000, hookTimeout: 900_000, teardownTimeout: 60_000 },
  }),
)
