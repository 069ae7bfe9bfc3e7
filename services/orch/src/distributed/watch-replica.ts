import { type StorageService, watchContract } from '@orch/core/contracts'
import { serveContract } from '@orch/platform/rpc'
import { createChangeFeed } from '@orch/watch'
import type { FeedOptions } from '../backends/nats-options.ts'
import type { Surroundings } from '../surroundings.ts'
import { openWatch } from '../watch/open.ts'
import { dialStorage } from './remote-storage.ts'
import { type Assembly, assemble, type Replica, type ReplicaOptions } from './replica.ts'
import { serve } from './serve.ts'

export interface WatchReplicaOptions extends ReplicaOptions {
  /** Host and port for calls; port 0 takes any free one. */
  readonly listen: string
  readonly storageAddresses: readonly string[]
  /** Where changes are published; absent: they are read from storage. */
  readonly feed: FeedOptions | undefined
}

/** Watch for other processes. */
export function openWatchReplica(options: WatchReplicaOptions, world: Omit<Surroundings, 'lifecycle'>): Promise<Replica> {
  return assemble(options, world, async (assembly) => {
    const storage = await dialStorage(options.storageAddresses, assembly)
    await storage.met
    const source = options.feed === undefined ? storage.service : await published(storage.service, options.feed, assembly)
    const watch = await openWatch({ storage: source }, assembly)
    const { address } = await serve(options.listen, [serveContract(watchContract, watch)], assembly)
    return { address, checks: [storage.check, storage.profileCheck] }
  })
}

async function published(storage: StorageService, feed: FeedOptions, assembly: Assembly) {
  const { openChangeStream } = await import('./feed.ts')
  const { clock, log, random, metrics, lifecycle } = assembly
  const changes = createChangeFeed({ storage, stream: await openChangeStream(feed, 'watch', assembly), clock, log, random, metrics })
  await lifecycle.run({ name: 'change feed', stop: () => changes.close() })
  return changes
}
