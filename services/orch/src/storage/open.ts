import type { Store } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import type { Profile } from '@orch/core/names'
import { renewalBy } from '@orch/core/stored'
import { declareMetrics, endAtOnce, gauge, type Log, type LogFormat, type Metrics, makePrivateFolder, messageOf } from '@orch/platform'
import {
  createStorage,
  DamagedStoreError,
  type DirectoryLock,
  type Leadership,
  lockDirectory,
  openLmdbStore,
  type StateSnapshot,
  type Storage,
  soleLeadership,
} from '@orch/storage'
import { type OpenEncryption, toStartError } from '../encryption/open.ts'
import { printComplaint, StartError, type Terminal } from '../process/terminal.ts'
import type { Surroundings } from '../surroundings.ts'

export interface StorageParts {
  /** The store of the state. The caller that opened it closes it. */
  readonly store: Store
  /** The snapshot with which the store begins; undefined if the server reads the state from the store. */
  readonly from?: StateSnapshot | undefined
  readonly watchHistoryMs: number
  /** Maximum bytes of superseded objects in memory. Undefined for storage's default. */
  readonly pastBytesMax?: number | undefined
  /** The leadership among replicas of the store; undefined for a single replica. */
  readonly leadership?: Leadership | undefined
  /** Undefined without encryption. */
  readonly encryption?: OpenEncryption | undefined
  readonly metrics?: Metrics | undefined
  /** Called when an object is replaced or deleted, before any reader sees it. */
  readonly onSuperseded?: ((key: string) => void) | undefined
}

/** Storage over a store. */
export async function openStorage(
  { store, from, watchHistoryMs, pastBytesMax, leadership = soleLeadership, encryption, metrics, onSuperseded }: StorageParts,
  surroundings: Surroundings,
): Promise<Storage> {
  const { catalogue, chance, clock, lifecycle, log } = surroundings
  const options = {
    store: encryption?.encrypt(store) ?? store,
    // The server must read encrypted values to learn their keys.
    from: encryption === undefined ? from : undefined,
    clock,
    metrics,
    leadership,
    profile: catalogue.names.profile,
    reencode: renewalBy(catalogue),
    watchHistoryMs,
    ...(pastBytesMax === undefined ? {} : { pastBytesMax, onPastFull: warnOnce(pastBytesMax, log) }),
    randomId: chance.stream('storage').uuid,
    onSuperseded,
    onError: (error: unknown, what: string) => log.error({ err: error, what }, 'storage failed'),
  }
  const storage = await createStorage(options).catch((cause: unknown) => {
    throw cause instanceof DamagedStoreError ? new StartError(cause.message, { cause }) : toStartError(cause)
  })
  return lifecycle.opened('storage', storage)
}

/** Warns once that the history has no more room. */
function warnOnce(bytesMax: number, log: Log): (upTo: number) => void {
  let hasWarned = false
  return (revision) => {
    if (hasWarned) return
    hasWarned = true
    log.warn({ bytesMax, revision }, 'the history is full: the oldest changes are forgotten, from now on without a word')
  }
}

const table = {
  etcd_db_total_size_in_bytes: gauge('Bytes that the store takes up.'),
  apiserver_storage_size_bytes: gauge('[STABLE] Bytes that the store takes up.', ['storage_cluster_id']),
  storage_store_free_bytes: gauge('Bytes of the store that later writes can use.'),
  storage_object_bytes: gauge('Bytes of all objects in memory.'),
  storage_history_bytes: gauge('Bytes of the changes in memory.'),
  apiserver_storage_objects: gauge('[STABLE] Objects of each resource.', ['resource']),
  apiserver_resource_objects: gauge('[ALPHA] Objects of each resource.', ['group', 'resource']),
}

/** Sizes of the store and of storage's memory, read with the metrics. */
export function addStorageMetrics(metrics: Metrics, storage: Storage): void {
  const known = new Set<string>()
  const setCounts = (set: (prefix: string, count: number) => void) => {
    const counts = storage.objectCounts()
    for (const prefix of counts.keys()) known.add(prefix)
    for (const prefix of known) set(prefix, counts.get(prefix) ?? 0)
  }
  declareMetrics(metrics, table, {
    etcd_db_total_size_in_bytes: (gauge) => gauge.set(storage.sizes().storeBytes),
    apiserver_storage_size_bytes: (gauge) => gauge.set({ storage_cluster_id: 'store-0' }, storage.sizes().storeBytes),
    storage_store_free_bytes: (gauge) => gauge.set(storage.sizes().storeFreeBytes),
    storage_object_bytes: (gauge) => gauge.set(storage.sizes().objectBytes),
    storage_history_bytes: (gauge) => gauge.set(storage.sizes().historyBytes),
    apiserver_storage_objects: (gauge) => setCounts((prefix, count) => gauge.set({ resource: toGroupResource(prefix) }, count)),
    apiserver_resource_objects: (gauge) => setCounts((prefix, count) => gauge.set(groupResourceOf(prefix), count)),
  })
}

/** `apps/deployments` as `deployments.apps`, and `core/pods` as `pods`. */
function toGroupResource(prefix: string): string {
  const { group, resource } = groupResourceOf(prefix)
  return group === '' ? resource : `${resource}.${group}`
}

function groupResourceOf(prefix: string): { group: string; resource: string } {
  const [group = '', resource = ''] = prefix.split('/')
  return { group: group === 'core' ? '' : group, resource }
}

/** Creates the folder and lets only the owner read all files that this process writes from now on. An existing folder keeps its mode. */
export function makeDataFolder(folder: string, log: Pick<Log, 'warn'>): void {
  process.umask(0o077)
  const mode = makePrivateFolder(folder)
  if ((mode & 0o077) === 0) return
  log.warn({ folder, mode: mode.toString(8) }, 'the data folder is open to other users; new files in it are for the owner alone')
}

/** Locks the folder for this process until it ends, at any stage of the start: a second server must not open files that this process still has open. */
export function lockDataFolder(folder: string): DirectoryLock {
  try {
    return lockDirectory(folder)
  } catch (error) {
    throw new StartError(messageOf(error), { cause: error })
  }
}

/** The store of a folder, with the process's messages. */
export interface FolderStoreOptions {
  readonly directory: string
  readonly profile: Profile
  readonly terminal: Pick<Terminal, 'error'>
  readonly logFormat: LogFormat
}

/**
 * Opens the store of a folder that this process has locked. A StartError explains a fault. If a value that is read later is damaged, the process ends
 * at once with the same explanation, so that nothing continues without the value.
 */
export async function openFolderStore({ directory, profile, terminal, logFormat }: FolderStoreOptions): Promise<Store> {
  const onDamage = ({ message }: Error) => {
    terminal.error(printComplaint(logFormat, 'error', message))
    process.exit(1)
  }
  const onFailure = ({ message }: Error) => {
    const text = `${message}: the server ends; once the disk is sound it starts with all that it has acknowledged`
    // lmdb has started a line on the terminal.
    terminal.error(`\n${printComplaint(logFormat, 'error', text)}`)
    endAtOnce()
  }
  const onPastForgotten = (damage: string, upTo: Revision) => {
    const text =
      `the past in the data file of ${directory} is damaged (${damage}): changes up to revision ${upTo} are forgotten, ` +
      'and the server goes on, as nothing current is damaged'
    terminal.error(printComplaint(logFormat, 'warn', text))
  }
  sayOnce()
  try {
    return await openLmdbStore({ directory, profile, onDamage, onFailure, onPastForgotten })
  } catch (error) {
    throw new StartError(messageOf(error), { cause: error })
  }
}

/** lmdb prints each error with its stack and also rejects with it. Only lmdb's errors have numeric codes. */
function sayOnce(): void {
  const { error: print } = console
  console.error = (...values: unknown[]) => {
    const [first] = values
    if (!(first instanceof Error && 'code' in first && typeof first.code === 'number')) print(...values)
  }
}
