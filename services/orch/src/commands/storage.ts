import { resolve } from 'node:path'
import type { Store } from '@orch/core/contracts'
import { type Log, messageOf, SettingsError } from '@orch/platform'
import type { EtcdStore } from '@orch/storage/etcd'
import { type EtcdOptions, readEtcd } from '../backends/etcd-options.ts'
import { readNats } from '../backends/nats-options.ts'
import { readTrust } from '../certificates/service-trust.ts'
import { readListenAddress } from '../distributed/listen-address.ts'
import { openStorageReplica } from '../distributed/storage-replica.ts'
import { readEncryption } from '../encryption/open.ts'
import { changeStreamAgeMsMin } from '../limits.ts'
import type { Terminal } from '../process/terminal.ts'
import { storageCommandSettings } from '../settings/commands.ts'
import { readCommandSettings } from '../settings/up-options.ts'
import { StartError } from '../start-error.ts'
import { type FolderStoreOptions, lockDataFolder, makeDataFolder, openFolderStore } from '../storage/data-folder.ts'
import type { Surroundings } from '../surroundings.ts'
import { runService } from './run-service.ts'

/** `orch storage`: what is, for gateways, watches and admissions. */
export async function storage(terminal: Terminal, flags: readonly string[]): Promise<undefined> {
  const { values: settings } = await readCommandSettings(storageCommandSettings, terminal, flags)
  const { etcdServers, dataDir, listen, watchHistoryMs, shutdownDelayMs } = settings
  const hostsWatch = settings.watch === 'in-process'
  if ((etcdServers.length === 0) === (dataDir === '')) {
    throw new SettingsError('--etcd-servers or --data-dir is needed, and only one of them: the state is in etcd or in a folder')
  }
  readListenAddress('--listen', listen)
  const encryption = readEncryption(settings)
  const trust = readTrust(settings, 'storage')
  const etcd = readEtcd(settings)
  // What is older than storage's own past is of no use to anybody who follows.
  const kept = { replicas: settings.natsStreamReplicas, ageMsMax: Math.max(watchHistoryMs, changeStreamAgeMsMin) }
  const nats = readNats(settings)
  const changeStream = nats === undefined ? undefined : { ...nats, kept }
  const address = readListenAddress('--probe-address', settings.probeAddress)
  return runService({
    name: 'storage',
    terminal,
    settings,
    probes: { address, tls: trust.tls },
    shutdownDelayMs,
    async open(world) {
      const directory = resolve(terminal.workingFolder, dataDir)
      const store =
        etcdServers.length === 0 ? await openFolder({ ...settings, directory, terminal }, world.log) : await openEtcd(etcd, world)
      return openStorageReplica(
        { trust, hasProcessMetrics: true, listen, store, changeStream, watchHistoryMs, hostsWatch, encryption },
        world,
      )
    },
  })
}

async function openEtcd(options: EtcdOptions, { chance, clock, log }: Pick<Surroundings, 'chance' | 'clock' | 'log'>): Promise<EtcdStore> {
  const { openEtcdStore } = await import('@orch/storage/etcd')
  try {
    return await openEtcdStore({ ...options, clock, log, random: chance.fraction, randomId: chance.uuid })
  } catch (error) {
    throw new StartError(`etcd: ${messageOf(error)}`, { cause: error })
  }
}

/** The folder is this process's own until it ends. */
async function openFolder(options: FolderStoreOptions, log: Log): Promise<Store> {
  makeDataFolder(options.directory, log)
  lockDataFolder(options.directory)
  return await openFolderStore(options)
}
