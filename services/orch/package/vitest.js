import { afterAll, test as base, beforeAll, beforeEach } from 'vitest'
import native from './native-require.cjs'

const { createServerHook, startGlobalServer } = native('./dist/testing.js')
export const { start } = native('./dist/index.js')
export { startGlobalServer }

export const useServer = createServerHook({ beforeAll, beforeEach, afterAll })

export const test = base
  .extend({
    $fileServer: [
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures this one needs.
      async ({}, use) => {
        const server = await start({ profile: 'kubernetes' })
        await use(server)
        await server.stop()
      },
      { scope: 'file' },
    ],
  })
  .extend({
    server: async ({ $fileServer }, use) => {
      await $fileServer.reset()
      await use($fileServer)
    },
  })
