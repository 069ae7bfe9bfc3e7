import { defineConfig, mergeConfig } from 'vitest/config'
import { shared } from './vitest.config.ts'

/** `npm run test:chaos`: tests that rest on timing, kills and luck. One file at a time: each has the machine for itself. */
export default mergeConfig(
  shared,
  defineConfig({ test: { include: ['test/**/*.chaos.ts'], maxWorkers: 1, testTimeout: 300_000, hookTimeout: 300_000 } }),
)
