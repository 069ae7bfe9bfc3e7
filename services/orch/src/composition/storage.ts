import { renewalBy, type Store } from '@orch/core'
import { createStorage, type Leadership, type Storage, soleLeadership } from '@orch/storage'
import type { Surroundings } from './surroundings.ts'

export interface StorageParts {
  /** Where the state is kept. Whoever opened it closes it. */
  readonly store: Store
  readonly watchHistoryMs: number
  /** Of the replicas that share the store; absent: there is one. */
  readonly leadership?: Leadership | undefined
}

/** Storage over a store. */
export async function openStorage(
  { store, watchHistoryMs, leadership = soleLeadership }: StorageParts,
  surroundings: Surroundings,
): Promise<Storage> {
  const { catalogue, clock, lifecycle, log } = surroundings
  const storage = await createStorage({
    store,
    clock,
    leadership,
    profile: catalogue.names.profile,
    reencode: renewalBy(catalogue),
    watchHistoryMs,
    onError: (error, what) => log.error({ err: error, what }, 'storage failed'),
  })
  await lifecycle.run({ name: 'storage', stop: () => storage.close() })
  return storage
}
