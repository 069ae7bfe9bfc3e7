import type { StoreChange } from '@orch/core/contracts'
import { at } from '@orch/core/json'
import type { Revision } from '@orch/core/meta'
import type { Profile } from '@orch/core/names'
import { limits } from '../limits.ts'
import type { EtcdClient } from './client.ts'
import type { Decoded } from './decode.ts'
import { toFailure } from './errors.ts'
import { type EpochRecord, type Heads, parseEpoch, readHeads } from './heads.ts'
import { type Layout, unframeDeletion, unframeValue } from './layout.ts'

/** The prefix of a store's keys, and its epoch. */
interface Owner {
  readonly layout: Layout
  readonly profile: Profile
}

/** The facts of a change that are needed to find it again. */
interface SeenChange {
  readonly key: string
  readonly revision: Revision
  readonly writeId: string
  readonly isDelete: boolean
}

/** This process's view of the store's revisions: the epoch, the position and the last changes. */
export class Timeline {
  #epoch: EpochRecord
  #compacted: Revision
  #position: Revision
  #chain: ChangeRevisions
  /** The last change that the watch has shown. */
  #lastSeen: SeenChange | undefined

  constructor({ epoch, compacted, position, lastChange }: Heads) {
    this.#epoch = epoch
    this.#compacted = compacted
    this.#position = position
    this.#chain = new ChangeRevisions(lastChange)
  }

  get epoch(): EpochRecord {
    return this.#epoch
  }

  get compacted(): Revision {
    return this.#compacted
  }

  /** The watch has shown every change up to this revision. */
  get position(): Revision {
    return this.#position
  }

  get lastChange(): Revision {
    return this.#chain.last
  }

  get lastSeen(): SeenChange | undefined {
    return this.#lastSeen
  }

  /** The last change at or before a revision; undefined if it is too old to be remembered. */
  changeAtOrBefore(revision: Revision): Revision | undefined {
    return this.#chain.atOrBefore(revision)
  }

  /** Records the events of a watch. The position moves only when listeners have received the changes. */
  note({ changes, epoch, compacted }: Decoded, owner: Owner): void {
    for (const change of changes) this.#noteChange(change)
    if (epoch !== undefined) {
      this.#epoch = parseEpoch(epoch.text, epoch.revision, owner)
      if (epoch.revision > this.#chain.last) this.#chain.push(epoch.revision)
    }
    if (compacted !== undefined) this.noteCompacted(compacted)
  }

  noteCompacted(compacted: Revision): void {
    this.#compacted = Math.max(this.#compacted, compacted)
  }

  moveTo(position: Revision): void {
    this.#position = position
  }

  /** Begins anew: changes before the heads are unknown or belong to another line of revisions. */
  restart({ epoch, position, lastChange }: Heads): void {
    this.#epoch = epoch
    this.#position = position
    this.#compacted = position
    this.#chain = new ChangeRevisions(lastChange)
    this.#lastSeen = undefined
  }

  #noteChange({ key, revision, writeId, value }: StoreChange): void {
    this.#chain.push(revision)
    this.#lastSeen = { key, revision, writeId, isDelete: value === undefined }
  }
}

/** Checks that etcd is still on this line of revisions, which a restore changes. Returns the break, or undefined. */
export async function findBreak(client: EtcdClient, owner: Owner, timeline: Timeline): Promise<string | undefined> {
  const heads = await readHeads(client, owner.layout, owner.profile)
  if (heads === undefined) return 'the store’s keys are gone'
  const { epoch, position, lastSeen } = timeline
  const isBehind = heads.position < position
  const isOther = heads.epoch.revision <= position && heads.epoch.epoch !== epoch.epoch
  const isContinued = !isBehind && !isOther && (lastSeen === undefined || (await holdsChange(client, owner.layout, lastSeen)))
  return isContinued ? undefined : 'etcd was restored to its past'
}

async function holdsChange(client: EtcdClient, layout: Layout, { key, revision, writeId, isDelete }: SeenChange): Promise<boolean> {
  const name = isDelete ? layout.deletion : layout.keys + key
  try {
    const { kvs } = await client.kv.range({ key: Buffer.from(name), revision: String(revision) })
    const found = kvs[0]
    if (found === undefined || Number(found.mod_revision) !== revision) return false
    return (isDelete ? unframeDeletion(key, found.value) : unframeValue(key, found.value)).writeId === writeId
  } catch (error) {
    if (toFailure(error) === 'compacted') return true
    throw error
  }
}

/**
 * The revisions of the last changes, so that each change can name its predecessor.
 *
 *   floor 10 (a change), then 12 15 20      before(13) → 12     before(12) → 10     before(10) → unknown
 */
export class ChangeRevisions {
  #floor: Revision
  #revisions: Revision[] = []

  constructor(last: Revision) {
    this.#floor = last
  }

  /** Revision of the last change. */
  get last(): Revision {
    return this.#revisions.at(-1) ?? this.#floor
  }

  push(revision: Revision): void {
    this.#revisions.push(revision)
    if (this.#revisions.length < limits.changeRevisionsMax) return
    const half = limits.changeRevisionsMax / 2
    this.#floor = this.#revisions[half - 1] ?? this.#floor
    this.#revisions = this.#revisions.slice(half)
  }

  /** The last change at or before a revision; undefined if it is too old to be remembered. */
  atOrBefore(revision: Revision): Revision | undefined {
    if (revision < this.#floor) return undefined
    let low = 0
    let high = this.#revisions.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (at(this.#revisions, middle) <= revision) low = middle + 1
      else high = middle
    }
    return low === 0 ? this.#floor : at(this.#revisions, low - 1)
  }
}
