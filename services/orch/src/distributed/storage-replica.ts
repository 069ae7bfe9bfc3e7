import { type Store, storageContract, watchContract } from '@orch/core/contracts'
import { serveContract } from '@orch/platform/rpc'
import { type Leadership, observeStore, soleLeadership } from '@orch/storage'
import type { PublisherOptions } from '@orch/storage/publisher'
import type { ChangeStreamOptions } from '../backends/nats-options.ts'
import { type EncryptionOptions, openEncryption } from '../encryption/open.ts'
import { openStorage } from '../storage/open.ts'
import type { Surroundings } from '../surroundings.ts'
import { addStorageMetrics } from '../telemetry/storage-metrics.ts'
import { openWatch } from '../watch/open.ts'
import { type Assembly, assemble, type Replica, type ReplicaOptions } from './replica.ts'
import { serve, storeCheck } from './serve.ts'

export interface StorageReplicaOptions extends ReplicaOptions {
  /** Host and port for calls; port 0 takes any free one. */
  readonly listen: string
  /** Where the state is kept; closed with the replica. */
  readonly store: Store & { readonly leadership?: Leadership }
  /** Where changes are published; absent: nowhere. */
  readonly changeStream: ChangeStreamOptions | undefined
  readonly watchHistoryMs: number
  /** Whether this process offers watch, too; it reads its changes from this storage. */
  readonly hostsWatch?: boolean | undefined
  /** Absent: values are stored as they are. */
  readonly encryption?: EncryptionOptions | undefined
}

/** Storage for other processes. */
export function openStorageReplica(options: StorageReplicaOptions, world: Omit<Surroundings, 'lifecycle'>): Promise<Replica> {
  return assemble(options, world, async (assembly) => {
    const { clock, lifecycle, metrics, tracer } = assembly
    const { store, changeStream } = options
    await lifecycle.run({ name: 'store', stop: () => store.close() })
    // One in this very process need not wait.
    const observed = store.shared === undefined ? store : observeStore(store, { system: 'etcd', clock, metrics, tracer })
    const encryption = options.encryption === undefined ? undefined : await openEncryption(options.encryption, assembly)
    const storage = await openStorage({ ...options, store: observed, leadership: store.leadership, encryption, metrics }, assembly)
    addStorageMetrics(metrics, storage)
    encryption?.addMetrics(metrics)
    const published = { storage, leadership: store.leadership ?? soleLeadership, isEncrypted: encryption?.isEncrypted }
    if (changeStream !== undefined) await publish(published, changeStream, assembly)
    const watch =
      options.hostsWatch === true ? [serveContract(watchContract, await openWatch({ storage, announcing: storage }, assembly))] : []
    const server = await serve(options.listen, [serveContract(storageContract, storage), ...watch], assembly)
    // Callers go to another replica while this one is cut off from the state.
    const forget = store.shared?.onReachable((isReachable) => server.setUseful(isReachable))
    await lifecycle.run({ name: 'reachability of the store', stop: () => forget?.() })
    const checks = [storeCheck(() => storage.status({})), ...(encryption === undefined ? [] : [encryption.check])]
    return { address: server.address, checks }
  })
}

async function publish(
  published: Pick<PublisherOptions, 'storage' | 'leadership' | 'isEncrypted'>,
  changeStream: ChangeStreamOptions,
  assembly: Assembly,
): Promise<void> {
  const { createPublisher } = await import('@orch/storage/publisher')
  const { openChangeStream } = await import('./change-stream.ts')
  const { chance, clock, log, metrics, lifecycle, tracer } = assembly
  const stream = await openChangeStream(changeStream, 'storage', assembly)
  const publisher = createPublisher({ ...published, stream, clock, log, random: chance.fraction, metrics, tracer })
  await lifecycle.run({ name: 'publisher', stop: () => publisher.close() })
}
