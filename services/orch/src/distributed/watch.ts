import { type StorageService, watchContract } from '@orch/core/contracts'
import { serveContract } from '@orch/platform/rpc'
import { createChangeSource } from '@orch/watch'
import { type ChangeStreamOptions, openChangeStream, readNats } from '../backends/connections.ts'
import { readTrust } from '../certificates/service-trust.ts'
import type { Terminal } from '../process/terminal.ts'
import { readCommandSettings } from '../settings/general.ts'
import type { Surroundings } from '../surroundings.ts'
import { openWatch } from '../watch/open.ts'
import { type Assembly, type OverStorageOptions, openOverStorage, type Replica } from './replica.ts'
import { runService } from './run-service.ts'
import { readListenAddress, readServiceAddresses, watchCommandSettings } from './settings.ts'

/** `orch watch`: the events, for gateways. */
export async function watch(terminal: Terminal, flags: readonly string[]): Promise<undefined> {
  const { values: settings } = await readCommandSettings(watchCommandSettings, terminal, flags)
  const { listen } = settings
  readListenAddress('--listen', listen)
  const trust = readTrust(settings, 'watch')
  const storageAddresses = readServiceAddresses('--storage-address', settings.storageAddress, trust)
  const changeStream = readNats(settings)
  return runService({
    name: 'watch',
    terminal,
    settings,
    trust,
    open: (world) => openWatchReplica({ trust, hasProcessMetrics: true, listen, storageAddresses, changeStream }, world),
  })
}

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
