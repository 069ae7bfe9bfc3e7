import { resolve } from 'node:path'
import { type Store, storageContract, watchContract } from '@orch/core/contracts'
import { type Log, messageOf, SettingsError } from '@orch/platform'
import { serveContract } from '@orch/platform/rpc'
import { type Leadership, observeStore, soleLeadership } from '@orch/storage'
import type { EtcdStore } from '@orch/storage/etcd'
import type { PublisherOptions } from '@orch/storage/publisher'
import { type ChangeStreamOptions, type EtcdOptions, openChangeStream, readEtcd, readNats } from '../backends/connections.ts'
import { type EncryptionOptions, openEncryption, readEncryption } from '../encryption/open.ts'
import { StartError } from '../process/terminal.ts'
import { readerOf } from '../settings/general.ts'
import {
  addStorageMetrics,
  type FolderStoreOptions,
  lockDataFolder,
  makeDataFolder,
  openFolderStore,
  openStorage,
} from '../storage/open.ts'
import type { Surroundings } from '../surroundings.ts'
import { openWatch } from '../watch/open.ts'
import { type Assembly, assembleReplica, type InnerReplicaOptions, type Replica, serve, storeCheck } from './replica.ts'
import { serviceCommand } from './run-service.ts'
import { storageCommandSettings } from './settings.ts'

/** Minimum age of the messages in the stream of changes, so that a returning publisher finds its last message. */
const changeStreamAgeMsMin = 60_000

/** `orch storage`: the state, for gateways, watches and admissions. */
export const storage = serviceCommand('storage', readerOf(storageCommandSettings), ({ settings, terminal, trust }) => {
  const { etcdServers, dataDir, listen, watchHistoryMs } = settings
  const hostsWatch = settings.watch === 'in-process'
  if ((etcdServers.length === 0) === (dataDir === '')) {
    throw new SettingsError('--etcd-servers or --data-dir is needed, and only one of them: the state is in etcd or in a folder')
  }
  const encryption = readEncryption(settings)
  const etcd = readEtcd(settings)
  // Changes older than storage's own past are of no use to followers.
  const kept = { replicas: settings.natsStreamReplicas, ageMsMax: Math.max(watchHistoryMs, changeStreamAgeMsMin) }
  const nats = readNats(settings)
  const changeStream = nats === undefined ? undefined : { ...nats, kept }
  return {
    async open(world) {
      const directory = resolve(terminal.workingFolder, dataDir)
      const store =
        etcdServers.length === 0 ? await openFolder({ ...settings, directory, terminal }, world.log) : await openEtcd(etcd, world)
      return openStorageReplica(
        { trust, hasProcessMetrics: true, listen, store, changeStream, watchHistoryMs, hostsWatch, encryption },
        world,
      )
    },
  }
})

async function openEtcd(options: EtcdOptions, { chance, clock, log }: Pick<Surroundings, 'chance' | 'clock' | 'log'>): Promise<EtcdStore> {
  const { openEtcdStore } = await import('@orch/storage/etcd')
  try {
    return await openEtcdStore({ ...options, clock, log, random: chance.fraction, randomId: chance.uuid })
  } catch (error) {
    throw new StartError(`etcd: ${messageOf(error)}`, { cause: error })
  }
}

/** The folder belongs to this process until it ends. */
async function openFolder(options: FolderStoreOptions, log: Log): Promise<Store> {
  makeDataFolder(options.directory, log)
  lockDataFolder(options.directory)
  return await openFolderStore(options)
}

export interface StorageReplicaOptions extends InnerReplicaOptions {
  /** The store of the state; closed with the replica. */
  readonly store: Store & { readonly leadership?: Leadership }
  /** The stream that changes are published to; undefined for none. */
  readonly changeStream: ChangeStreamOptions | undefined
  readonly watchHistoryMs: number
  /** True if this process hosts watch, too, which reads its changes from this storage. */
  readonly hostsWatch?: boolean | undefined
  /** Undefined if values are stored unencrypted. */
  readonly encryption?: EncryptionOptions | undefined
}

/** Storage for other processes. */
export function openStorageReplica(options: StorageReplicaOptions, world: Omit<Surroundings, 'lifecycle'>): Promise<Replica> {
  return assembleReplica(options, world, async (assembly) => {
    const { clock, lifecycle, metrics, tracer } = assembly
    const { store, changeStream } = options
    lifecycle.opened('store', store)
    // In this process no wait is needed.
    const observed = store.shared === undefined ? store : observeStore(store, { system: 'etcd', clock, metrics, tracer })
    const encryption = options.encryption === undefined ? undefined : await openEncryption(options.encryption, assembly)
    const storage = await openStorage({ ...options, store: observed, leadership: store.leadership, encryption, metrics }, assembly)
    addStorageMetrics(metrics, storage)
    encryption?.addMetrics(metrics)
    const published = { storage, leadership: store.leadership ?? soleLeadership, isEncrypted: encryption?.isEncrypted }
    if (changeStream !== undefined) await publish(published, changeStream, assembly)
    const watch = options.hostsWatch === true ? [serveContract(watchContract, openWatch({ storage, announcing: storage }, assembly))] : []
    const server = await serve(options.listen, [serveContract(storageContract, storage), ...watch], assembly)
    // Callers use another replica while this one has no connection to the store.
    const forget = store.shared?.onReachable((isReachable) => server.setUseful(isReachable))
    lifecycle.onStop('reachability of the store', () => forget?.())
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
  const { chance, clock, log, metrics, lifecycle, tracer } = assembly
  const stream = await openChangeStream(changeStream, 'storage', assembly)
  lifecycle.opened('publisher', createPublisher({ ...published, stream, clock, log, random: chance.fraction, metrics, tracer }))
}
