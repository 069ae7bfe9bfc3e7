import type { SharedStore, Store } from '@orch/core/contracts'
import type { Profile } from '@orch/core/names'
import { type Clock, type Log, silentLog, sleep, systemChance, systemClock } from '@orch/platform'
import { limits } from '../limits.ts'
import { createEtcdClient, type EtcdAccess, type EtcdClient, readSurely } from './client.ts'
import { isAway } from './errors.ts'
import { claimHeads } from './heads.ts'
import { toLayout } from './layout.ts'
import type { EtcdLeadership } from './leadership.ts'
import { StoreOnEtcd } from './store-on-etcd.ts'

export interface EtcdStoreOptions extends EtcdAccess {
  /** The prefix of all keys; several stores may share one etcd. */
  readonly prefix: string
  readonly profile: Profile
  readonly clock?: Clock | undefined
  readonly randomId?: (() => string) | undefined
  readonly random?: (() => number) | undefined
  readonly log?: Log | undefined
  /** This replica's name in elections. */
  readonly candidate?: string | undefined
  /** Maximum wait for etcd at the start. */
  readonly startWaitMs?: number | undefined
  /** Replaces etcd's own version; for tests. */
  readonly etcdVersion?: string | undefined
  /** Used instead of a client for `servers`; for tests. The store closes it. */
  readonly client?: EtcdClient | undefined
}

/** A store on etcd, with its leadership among replicas. */
export interface EtcdStore extends Store {
  readonly shared: SharedStore
  readonly leadership: EtcdLeadership
}

/** Opens a store on etcd. Several processes may open the same prefix. Waits for an unavailable etcd. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<EtcdStore> {
  const { profile, clock = systemClock, log = silentLog, startWaitMs = limits.etcdStartWaitMs } = options
  const { random = systemChance.fraction, randomId = systemChance.uuid } = options
  const layout = toLayout(options.prefix)
  const client = options.client ?? createEtcdClient(options, clock)
  const giveUpMs = clock.monotonic() + startWaitMs
  let isWaiting = false
  for (;;) {
    let store: StoreOnEtcd | undefined
    try {
      const version = options.etcdVersion ?? (await readSurely(() => client.maintenance.status())).version
      const isReliable = isReliableVersion(version)
      const heads = await claimHeads(client, layout, { profile, randomId })
      const { servers, candidate = randomId() } = options
      store = new StoreOnEtcd({
        client,
        layout,
        profile,
        clock,
        log,
        isReliable,
        heads,
        random,
        randomId,
        candidate,
        servers: servers.length,
      })
      if (!isReliable) {
        log.warn(
          { version },
          'this etcd may lose events of a watch; 3.4.31, 3.5.13 or newer is better. Latest reads cost more, and memory is compared after each compaction',
        )
      }
      await store.begin()
      return store
    } catch (error) {
      if (store !== undefined || !isAway(error) || clock.monotonic() > giveUpMs) {
        await store?.close()
        client.close()
        throw error
      }
      log[isWaiting ? 'debug' : 'warn']({ err: error }, 'waiting for etcd')
      isWaiting = true
      await sleep(clock, limits.etcdReconnectDelayMsMax)
    }
  }
}

/**
 * True if this version of etcd reports its position reliably and loses no watch events when it compacts: 3.4.31 and later, 3.5.13 and later. An
 * unreadable version counts as an old one.
 */
export function isReliableVersion(version: string): boolean {
  const match = /^(\d+)\.(\d+)\.(\d+)/.exec(version)
  if (match === null) return false
  const [major = 0, minor = 0, patch = 0] = match.slice(1).map(Number)
  if (major !== 3) return major > 3
  if (minor === 4) return patch >= 31
  if (minor === 5) return patch >= 13
  return minor > 5
}
