import { type StorageService, watchContract } from '@orch/core/contracts'
import { serveContract } from '@orch/platform/rpc'
import { createChangeSource } from '@orch/watch'
import { type ChangeStreamOptions, readNats } from '../backends/nats.ts'
import { readTrust } from '../certificates/service-trust.ts'
import type { Terminal } from '../process/terminal.ts'
import { readCommandSettings } from '../settings/general.ts'
import type { Surroundings } from '../surroundings.ts'
import { openWatch } from '../watch/open.ts'
import { dialStorage } from './remote-storage.ts'
import { type Assembly, assemble, type InnerReplicaOptions, type Replica, serve } from './replica.ts'
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

export interface WatchReplicaOptions extends InnerReplicaOptions {
  readonly storageAddresses: readonly string[]
  /** The stream of published changes; absent: they are read from storage. */
  readonly changeStream: ChangeStreamOptions | undefined
}

/** Watch for other processes. */
export function openWatchReplica(options: WatchReplicaOptions, world: Omit<Surroundings, 'lifecycle'>): Promise<Replica> {
  return assemble(options, world, async (assembly) => {
    const storage = await dialStorage(options.storageAddresses, assembly)
    await storage.met
    const source = options.changeStream === undefined ? storage.service : await published(storage.service, options.changeStream, assembly)
    const watch = await openWatch({ storage: source }, assembly)
    const { address } = await serve(options.listen, [serveContract(watchContract, watch)], assembly)
    return { address, checks: [storage.check, storage.profileCheck] }
  })
}

async function published(storage: StorageService, changeStream: ChangeStreamOptions, assembly: Assembly) {
  const { openChangeStream } = await import('./change-stream.ts')
  const { chance, clock, log, metrics, lifecycle } = assembly
  const changes = createChangeSource({
    storage,
    stream: await openChangeStream(changeStream, 'watch', assembly),
    clock,
    log,
    random: chance.fraction,
    metrics,
  })
  await lifecycle.run({ name: 'change stream', stop: () => changes.close() })
  return changes
}
