import { type StorageService, watchContract } from '@orch/core/contracts'
import { serveContract } from '@orch/platform/rpc'
import { createChangeSource } from '@orch/watch'
import { type ChangeStreamOptions, openChangeStream, readNats } from '../backends/connections.ts'
import { readerOf } from '../settings/general.ts'
import type { Surroundings } from '../surroundings.ts'
import { openWatch } from '../watch/open.ts'
import { type Assembly, type OverStorageOptions, openOverStorage, type Replica } from './replica.ts'
import { serviceCommand } from './run-service.ts'
import { readServiceAddresses, watchCommandSettings } from './settings.ts'

/** `orch watch`: the events, for gateways. */
export const watch = serviceCommand('watch', readerOf(watchCommandSettings), ({ settings, trust }) => {
  const storageAddresses = readServiceAddresses('--storage-address', settings.storageAddress, trust)
  const changeStream = readNats(settings)
  const { listen } = settings
  return { open: (world) => openWatchReplica({ trust, hasProcessMetrics: true, listen, storageAddresses, changeStream }, world) }
})

export interface WatchReplicaOptions extends OverStorageOptions {
  /** The stream of published changes; undefined if they are read from storage. */
  readonly changeStream: ChangeStreamOptions | undefined
}

/** Watch for other processes. */
export function openWatchReplica(options: WatchReplicaOptions, world: Omit<Surroundings, 'lifecycle'>): Promise<Replica> {
  return openOverStorage(options, world, async (storage, assembly) => {
    const source = options.changeStream === undefined ? storage : await published(storage, options.changeStream, assembly)
    return serveContract(watchContract, openWatch({ storage: source }, assembly))
  })
}

async function published(storage: StorageService, changeStream: ChangeStreamOptions, assembly: Assembly) {
  const { chance, clock, log, metrics, lifecycle } = assembly
  const stream = await openChangeStream(changeStream, 'watch', assembly)
  return lifecycle.opened('change stream', createChangeSource({ storage, stream, clock, log, random: chance.fraction, metrics }))
}
