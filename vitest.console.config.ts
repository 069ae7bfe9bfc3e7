import { defineConfig, mergeConfig } from 'vitest/config'
import { shared } from './vitest.config.ts'

/** `npm run test:console`: the console in a Chromium of this machine. */
export default mergeConfig(shared, defineConfig({ test: { include: ['test/console/*.browser.ts'], maxWorkers: 1 } }))
