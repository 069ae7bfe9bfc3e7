import { type StorageService, watchContract } from '@orch/core/contracts'
import { serveContract } from '@orch/platform/rpc'
import { createChangeSource } from '@orch/watch'
import { gateSettings } from '../api/settings.ts'
import { type ChangeStreamOptions, natsSettings, readNats } from '../backends/nats.ts'
import { readTrust, trustSettings } from '../certificates/service-trust.ts'
import type { Terminal } from '../process/terminal.ts'
import { generalSettings, readCommandSettings } from '../settings/general.ts'
import type { Surroundings } from '../surroundings.ts'
import { openWatch } from '../watch/open.ts'
import { dialStorage } from './remote-storage.ts'
import { type Assembly, assemble, type Replica, type ReplicaOptions, serve } from './replica.ts'
import { runService } from './run-service.ts'
import {
  listenSettings,
  probeSettings,
  readListenAddress,
  readServiceAddresses,
  shutdownSettings,
  storageAddressSettings,
} from './settings.ts'

/** All settings of `orch watch`. */
export const watchCommandSettings = {
  ...generalSettings,
  emulatedVersion: gateSettings.emulatedVersion,
  ...listenSettings('127.0.0.1:7200'),
  ...storageAddressSettings,
  ...trustSettings,
  ...natsSettings,
  ...probeSettings('127.0.0.1:7201'),
  ...shutdownSettings,
}

/** `orch watch`: what happened, for gateways. */
export async function watch(terminal: Terminal, flags: readonly string[]): Promise<undefined> {
  const { values: settings } = await readCommandSettings(watchCommandSettings, terminal, flags)
  const { listen, shutdownDelayMs } = settings
  readListenAddress('--listen', listen)
  const trust = readTrust(settings, 'watch')
  const storageAddresses = readServiceAddresses('--storage-address', settings.storageAddress, trust)
  const changeStream = readNats(settings)
  return runService({
    name: 'watch',
    terminal,
    settings,
    probes: { address: readListenAddress('--probe-address', settings.probeAddress), tls: trust.tls },
    shutdownDelayMs,
    open: (world) => openWatchReplica({ trust, hasProcessMetrics: true, listen, storageAddresses, changeStream }, world),
  })
}

export interface WatchReplicaOptions extends ReplicaOptions {
  /** Host and port for calls; port 0 takes any free one. */
  readonly listen: string
  readonly storageAddresses: readonly string[]
  /** Where changes are published; absent: they are read from storage. */
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
