import { storageContract, watchContract } from '@orch/core'
import { silentLog, systemClock } from '@orch/platform'
import type { OpenedServices } from '@orch/testkit'
import { createMemoryStore, createStorage } from '../../services/storage/src/index.ts'
import { createWatch, unconverted } from '../../services/watch/src/index.ts'

/** The contracts that are tried in both ways. */
export const contracts = { storage: storageContract, watch: watchContract }

/** Storage on a memory store, and watch behind it. */
export async function openServices(): Promise<OpenedServices<typeof contracts>> {
  const store = createMemoryStore()
  const storage = await createStorage({ store })
  const watch = createWatch({ storage, clock: systemClock, log: silentLog, random: Math.random, convertOf: () => unconverted })
  return {
    services: { storage, watch },
    async close() {
      watch.close()
      storage.close()
      await store.close()
    },
  }
}
