import type { Store } from '@orch/core/contracts'
import { renewalBy } from '@orch/core/stored'
import type { Metrics } from '@orch/platform'
import { createStorage, DamagedStoreError, type Leadership, type Storage, soleLeadership } from '@orch/storage'
import { type OpenEncryption, toStartError } from '../encryption/open.ts'
import { StartError } from '../start-error.ts'
import type { Surroundings } from '../surroundings.ts'

export interface StorageParts {
  /** Where the state is kept. The caller that opened it closes it. */
  readonly store: Store
  readonly watchHistoryMs: number
  /** Of the replicas that share the store; absent: there is one. */
  readonly leadership?: Leadership | undefined
  /** Absent: values are stored as they are. */
  readonly encryption?: OpenEncryption | undefined
  readonly metrics?: Metrics | undefined
  /** Called when an object is replaced or deleted, before that can be seen. */
  readonly onSuperseded?: ((key: string) => void) | undefined
}

/** Storage over a store. */
export async function openStorage(
  { store, watchHistoryMs, leadership = soleLeadership, encryption, metrics, onSuperseded }: StorageParts,
  surroundings: Surroundings,
): Promise<Storage> {
  const { catalogue, chance, clock, lifecycle, log } = surroundings
  const options = {
    store: encryption?.encrypt(store) ?? store,
    clock,
    metrics,
    leadership,
    profile: catalogue.names.profile,
    reencode: renewalBy(catalogue),
    watchHistoryMs,
    randomId: chance.stream('storage').uuid,
    onSuperseded,
    onError: (error: unknown, what: string) => log.error({ err: error, what }, 'storage failed'),
  }
  const storage = await createStorage(options).catch((cause: unknown) => {
    throw cause instanceof DamagedStoreError ? new StartError(cause.message, { cause }) : toStartError(cause)
  })
  await lifecycle.run({ name: 'storage', stop: () => storage.close() })
  return storage
}
