import type { StoreChange, StoreHistory } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { type Clock, onAbort } from '@orch/platform'
import { afterPatience } from '@orch/platform/rpc'
import type { Etcd3 } from 'etcd3'
import { limits } from '../limits.ts'
import { type EtcdClient, readSurely } from './client.ts'
import { decodeEvents } from './decode.ts'
import { toStatusError } from './errors.ts'
import { endOfPrefix, type Layout } from './layout.ts'
import { openWatch } from './watch.ts'
import type { EtcdEvent } from './wire.ts'

/** The requested part of the past. */
export interface HistoryRequest {
  readonly client: EtcdClient
  readonly layout: Layout
  readonly after: Revision
  /** Revision of the last change at or before `after`; undefined if unknown here. */
  readonly previous: Revision | undefined
  /** Revision of a change that ends the requested range. */
  readonly upTo: Revision
  readonly limit: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Reads past changes by a separate watch. Rejects if etcd sends none of the missing changes for a while. */
export async function readHistory(request: HistoryRequest): Promise<StoreHistory> {
  const { client, layout, after, upTo, limit, clock, signal } = request
  const first = request.previous ?? (await lastChangeAt(client, layout, after))
  const { promise, resolve, reject } = Promise.withResolvers<StoreHistory>()
  const fail = (error: unknown) => reject(toStatusError(error))
  const changes: StoreChange[] = []
  const take = (events: readonly EtcdEvent[]) => {
    const decoded = decodeEvents(events, layout, changes.at(-1)?.revision ?? first)
    changes.push(...decoded.changes)
    if (changes.length >= limit || decoded.position >= upTo) resolve({ kind: 'changes', changes: changes.slice(0, limit) })
  }
  const awaitEvents = () =>
    afterPatience(clock, limits.etcdCallTimeoutMs, () => {
      watch.abandon()
      fail(new Error('4 DEADLINE_EXCEEDED: etcd has not sent its past changes'))
    })
  let silence = awaitEvents()
  const watch = openWatch(client, layout.all, after + 1, {
    onCreated: () => {},
    onPosition: () => {},
    onEvents: (events) => {
      silence.cancel()
      silence = awaitEvents()
      try {
        take(events)
      } catch (error) {
        fail(error)
      }
    },
    onEnd: (end) => {
      if (end.kind === 'compacted') resolve({ kind: 'compacted', compacted: end.revision })
      else fail(end.error)
    },
  })
  const close = () => fail(new Error('the store is closed'))
  onAbort(signal, close)
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', close)
    silence.cancel()
    watch.close()
  }
}

/** Reads the last change at or before a revision from etcd, by scanning all keys. */
async function lastChangeAt(client: Etcd3, layout: Layout, revision: Revision): Promise<Revision> {
  const key = Buffer.from(layout.keys)
  const sorted = { sort_target: 'Mod' as const, sort_order: 'Descend' as const, limit: 1, keys_only: true, revision: String(revision) }
  const reads = [
    { key, range_end: endOfPrefix(layout.keys), ...sorted },
    { key: Buffer.from(layout.deletion), revision: String(revision) },
    { key: Buffer.from(layout.epoch), revision: String(revision) },
  ]
  const found = await Promise.all(reads.map((read) => readSurely(() => client.kv.range(read))))
  return Math.max(0, ...found.map(({ kvs }) => Number(kvs[0]?.mod_revision ?? 0)))
}
