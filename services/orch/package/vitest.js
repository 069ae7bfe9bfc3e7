import { afterAll, test as base, beforeAll, beforeEach } from 'vitest'
import { start } from './dist/index.js'
import { createServerHook, startGlobalServer } from './dist/testing.js'

export { start, startGlobalServer }

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
