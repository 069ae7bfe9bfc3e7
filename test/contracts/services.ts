import { createCatalogue } from '@orch/core/catalogue'
import { admissionContract, storageContract, watchContract } from '@orch/core/contracts'
import { silentLog, systemChance, systemClock } from '@orch/platform'
import type { OpenedServices } from '@orch/testkit'
import { createAdmission } from '../../services/admission/src/index.ts'
import { createMemoryStore, createStorage } from '../../services/storage/src/index.ts'
import { createWatch, unconverted } from '../../services/watch/src/index.ts'

/** All contracts that services offer one another. */
export const contracts = { storage: storageContract, watch: watchContract, admission: admissionContract }

/** Storage on a memory store, with watch and admission over it. */
export async function openServices(): Promise<OpenedServices<typeof contracts>> {
  const store = createMemoryStore()
  const storage = await createStorage({ store })
  const watch = createWatch({ storage, clock: systemClock, log: silentLog, random: Math.random, convertOf: () => unconverted })
  const admission = createAdmission({
    storage,
    catalogue: createCatalogue('orch'),
    clock: systemClock,
    log: silentLog,
    random: Math.random,
    chance: systemChance,
  })
  return {
    services: { storage, watch, admission },
    async close() {
      admission.close()
      watch.close()
      storage.close()
      await store.close()
    },
  }
}
