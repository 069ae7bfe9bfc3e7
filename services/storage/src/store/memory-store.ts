import type { Store, StoreSnapshot, WriteOrigin } from '@orch/core/contracts'
import { at } from '@orch/core/json'
import type { Revision } from '@orch/core/meta'
import { systemChance, systemClock } from '@orch/platform'
import { type PackedValue, packValue, unpackValue } from '../memory/packed-value.ts'
import { RevisionMap } from '../memory/revision-map.ts'
import { SortedTree } from '../memory/sorted-tree.ts'
import { LogStore, type StoreEnvironment } from './log-store.ts'
import type { Batch, KeySpan, Latest, LogEntry, Meta, Tables } from './tables.ts'

export interface MemoryStoreOptions extends Partial<StoreEnvironment> {
  /** The state with which the store begins, and its epoch; undefined for an empty store. */
  readonly from?: StoreSnapshot | undefined
  /** True if a store that begins with another store's state gets a new epoch. */
  readonly hasOwnEpoch?: boolean
}

/** A store that lives as long as the process. */
export function createMemoryStore({ from, hasOwnEpoch = false, ...environment }: MemoryStoreOptions = {}): Store {
  if (from !== undefined && !(from instanceof MemoryTables)) throw new TypeError('a store begins with a snapshot of a store in memory')
  const complete = { now: systemClock.now, monotonic: systemClock.monotonic, randomId: systemChance.uuid, ...environment }
  if (from === undefined) return new LogStore(new MemoryTables(complete.randomId()), complete)
  return new LogStore(from.fork(hasOwnEpoch ? complete.randomId() : from.meta.epoch), complete)
}

/** A log and an index that live as long as the process. */
export class MemoryTables implements Tables, StoreSnapshot {
  readonly isImmediate = true
  readonly isFull = false
  #latest = SortedTree.create<MemoryEntry>()
  readonly latest: Tables['latest'] = { get: (key) => this.#latest.get(key)?.revision }
  #log = RevisionMap.create<MemoryEntry>()
  #bytes = 0
  /** Entries up to this revision may also be in other tables. */
  #sharedUpTo: Revision = 0
  #meta: Meta

  constructor(epoch: string) {
    // An empty list also needs a resource version, and '0' has another meaning.
    this.#meta = { profile: '', epoch, revision: 1, compacted: 1, swept: 1 }
  }

  /** A copy of log and index in constant time. A write to either does not change the other. */
  fork(epoch = this.#meta.epoch): MemoryTables {
    const fork = new MemoryTables(epoch)
    fork.#latest = this.#latest.fork()
    fork.#log = this.#log.fork()
    fork.#bytes = this.#bytes
    fork.#meta = { ...this.#meta, epoch }
    fork.#sharedUpTo = this.revision
    return fork
  }

  get revision(): Revision {
    return this.#meta.revision
  }

  get meta(): Meta {
    return this.#meta
  }

  keys({ prefix, start }: KeySpan): Latest[] {
    const found: Latest[] = []
    for (const { key, revision } of this.#entriesFrom(prefix > start ? prefix : start)) {
      if (!key.startsWith(prefix)) break
      found.push({ key, revision })
    }
    return found
  }

  entry(revision: Revision): LogEntry | undefined {
    return this.#log.get(revision)
  }

  visit(show: Parameters<Tables['visit']>[0]): void {
    for (const { key, revision, value } of this.#entriesFrom('')) if (value !== undefined) show({ key, revision, value })
  }

  *revisions(after: Revision): Iterable<Revision> {
    for (const { revision } of this.#log.after(after)) yield revision
  }

  entries(after: Revision): Iterable<LogEntry> {
    return this.#log.after(after)
  }

  write({ appended, removed, meta }: Batch): undefined {
    for (const entry of appended) this.#append(new MemoryEntry(entry))
    for (const revision of removed) this.#bytes -= this.#log.delete(revision)?.bytes ?? 0
    this.#meta = { ...this.#meta, ...meta }
  }

  adopt(revision: Revision, restore: () => Uint8Array): void {
    const found = this.#log.get(revision)
    if (found === undefined) return
    this.#bytes -= found.bytes
    const entry = revision > this.#sharedUpTo ? found : this.#ownEntry(found)
    entry.restore = restore
    this.#bytes += entry.bytes
  }

  pack(revision: Revision, replacedAt: Revision | undefined): number | undefined {
    const found = this.#log.get(revision)
    if (found === undefined || found.isDeletion) return undefined
    const base = replacedAt === undefined ? undefined : this.#log.get(replacedAt)
    // A shared entry would keep the later version of one store alive in all others.
    const isOwn = revision > this.#sharedUpTo || (replacedAt ?? 0) <= this.#sharedUpTo
    const entry = isOwn ? found : this.#ownEntry(found)
    this.#bytes -= entry.bytes
    entry.pack(base)
    this.#bytes += entry.bytes
    return entry.bytes
  }

  sizes(): { bytes: number; freeBytes: number } {
    return { bytes: this.#bytes, freeBytes: 0 }
  }

  async close(): Promise<void> {
    this.#latest = SortedTree.create()
    this.#log = RevisionMap.create()
  }

  #append(entry: MemoryEntry): void {
    this.#log.set(entry.revision, entry)
    this.#bytes += entry.bytes
    if (entry.isDeletion) this.#latest.delete(entry.key)
    else this.#latest.set(entry)
  }

  /** Replaces an entry that is shared with other tables. */
  #ownEntry(shared: MemoryEntry): MemoryEntry {
    const entry = new MemoryEntry(shared)
    this.#log.set(entry.revision, entry)
    if (this.#latest.get(entry.key) === shared) this.#latest.set(entry)
    return entry
  }

  *#entriesFrom(start: string): Generator<MemoryEntry, void, undefined> {
    for (const { leaf, from, to } of this.#latest.walk(start, '\uffff'))
      for (let index = from; index < to; index++) yield at(leaf.items, index)
  }
}

/**
 * Maximum number of successive versions of one key that are packed relative to each other; the last is packed alone. More versions would take longer
 * to read.
 */
const packedChainMax = 16

/** An entry whose value another object may hold or whose value may be packed. Forked tables share it. */
class MemoryEntry implements LogEntry {
  readonly revision: Revision
  readonly previous: Revision
  readonly replaces: Revision
  key: string
  readonly writeId: string
  readonly isDeletion: boolean
  readonly timeMs: number | undefined
  readonly origin: WriteOrigin | undefined
  #value: Uint8Array | undefined
  #restore: (() => Uint8Array) | undefined
  #packed: PackedValue | undefined
  /** The later version that this value is packed against. */
  #base: MemoryEntry | undefined
  /** The consecutive packed versions before it. */
  #earlier = 0

  constructor({ revision, previous, replaces, key, writeId, value, timeMs, origin }: LogEntry) {
    this.revision = revision
    this.previous = previous
    this.replaces = replaces
    this.key = key
    this.writeId = writeId
    this.isDeletion = value === undefined
    this.timeMs = timeMs
    this.origin = origin
    this.#value = value
  }

  get value(): Uint8Array | undefined {
    if (this.#packed !== undefined) return unpackValue(this.#packed, () => this.#base?.value)
    return this.#restore === undefined ? this.#value : this.#restore()
  }

  /** Packs the value: its difference from a later version, or the deflated value. */
  pack(base: MemoryEntry | undefined): void {
    const { value } = this
    if (value === undefined || this.#packed !== undefined) return
    const later = this.#earlier % packedChainMax === packedChainMax - 1 ? undefined : base?.value
    this.#packed = packValue(value, later)
    this.#value = undefined
    this.#restore = undefined
    if (base === undefined) return
    base.#earlier = this.#earlier + 1
    this.key = base.key
    if (later !== undefined) this.#base = base
  }

  /** Called when the caller takes over the value. */
  set restore(restore: () => Uint8Array) {
    this.#restore = restore
    this.#value = undefined
  }

  /** The bytes in the entry itself. */
  get bytes(): number {
    return this.key.length + (this.#value?.length ?? 0) + (this.#packed?.bytes.length ?? 0)
  }
}
