import { defineConfig, mergeConfig } from 'vitest/config'
import { shared } from './vitest.config.ts'

/** `npm run mutate`: the tests of one scope, which the environment names. One file at a time, in one process, as Stryker expects. */
export default mergeConfig(shared, defineConfig({ test: { include: JSON.parse(process.env.ORCH_MUTATION_TESTS ?? '[]'), maxWorkers: 1 } }))
