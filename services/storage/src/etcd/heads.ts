import { isJsonObject } from '@orch/core/json'
import type { Revision } from '@orch/core/meta'
import type { Profile } from '@orch/core/names'
import type { Etcd3 } from 'etcd3'
import { readSurely } from './client.ts'
import { endOfPrefix, type Layout } from './layout.ts'

/** The epoch of the revisions, as stored in etcd. */
export interface EpochRecord {
  readonly epoch: string
  /** Revision of the epoch's record. */
  readonly revision: Revision
}

/** The position of a store in etcd at one moment. */
export interface Heads {
  readonly epoch: EpochRecord
  readonly compacted: Revision
  /** The revision of the last change, or of the epoch if that is newer. */
  readonly lastChange: Revision
  readonly position: Revision
}

/** Reads the head of the store; undefined if the store is empty. */
export async function readHeads(client: Etcd3, layout: Layout, profile: Profile): Promise<Heads | undefined> {
  const lastOf = (prefix: string) => ({
    request_range: {
      key: Buffer.from(prefix),
      range_end: endOfPrefix(prefix),
      sort_target: 'Mod' as const,
      sort_order: 'Descend' as const,
      keys_only: true,
      limit: 1,
    },
  })
  const get = (key: string) => ({ request_range: { key: Buffer.from(key) } })
  const success = [get(layout.epoch), get(layout.compacted), get(layout.deletion), lastOf(layout.keys)]
  const { responses, header } = await readSurely(() => client.kv.txn({ success }))
  const [epoch, compacted, deletion, last] = responses.map(({ response_range: range }) => range?.kvs[0])
  if (epoch === undefined) return undefined
  const record = parseEpoch(epoch.value.toString(), Number(epoch.mod_revision), { layout, profile })
  const lastChange = Math.max(record.revision, Number(deletion?.mod_revision ?? 0), Number(last?.mod_revision ?? 0))
  return { epoch: record, compacted: Number(compacted?.value.toString() ?? 0), lastChange, position: Number(header.revision) }
}

/** Reads the store's position, and creates the first epoch if the store has none. */
export async function claimHeads(
  client: Etcd3,
  layout: Layout,
  { profile, randomId }: { readonly profile: Profile; readonly randomId: () => string },
): Promise<Heads> {
  for (;;) {
    const heads = await readHeads(client, layout, profile)
    if (heads !== undefined) return heads
    await writeEpoch(client, layout, { epoch: randomId(), profile, replaces: 0 })
  }
}

/** Replaces the epoch at a revision (0 for none). A second writer keeps the first one's epoch. */
export async function writeEpoch(
  client: Etcd3,
  layout: Layout,
  { epoch, profile, replaces }: { epoch: string; profile: Profile; replaces: Revision },
): Promise<{ readonly isWritten: boolean; readonly revision: Revision }> {
  const key = Buffer.from(layout.epoch)
  const txn = {
    compare: [{ key, target: 'Mod' as const, result: 'Equal' as const, mod_revision: String(replaces) }],
    success: [{ request_put: { key, value: Buffer.from(JSON.stringify({ epoch, profile })) } }],
  }
  const { succeeded, header } = await readSurely(() => client.kv.txn(txn))
  return { isWritten: succeeded, revision: Number(header.revision) }
}

/** Parses an epoch's record; throws if it has another profile. */
export function parseEpoch(text: string, revision: Revision, { layout, profile }: { layout: Layout; profile: Profile }): EpochRecord {
  const record: unknown = JSON.parse(text)
  if (isJsonObject(record) && record.restoring === true)
    throw new Error(`a restore of ${layout.all} in etcd has not been finished: run orch restore again`)
  const { epoch, profile: owner }: Readonly<Record<string, unknown>> = isJsonObject(record) ? record : {}
  if (typeof epoch !== 'string' || typeof owner !== 'string')
    throw new Error(`the key ${layout.epoch} of etcd was not written by this server`)
  if (owner !== profile)
    throw new Error(`${layout.all} in etcd belongs to the profile '${owner}' and can't be opened under the profile '${profile}'`)
  return { epoch, revision }
}
