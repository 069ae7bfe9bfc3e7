import type { Store, StoreSnapshot } from '@orch/core/contracts'
import { at } from '@orch/core/json'
import type { Revision } from '@orch/core/meta'
import { systemChance, systemClock } from '@orch/platform'
import { SortedTree } from '../memory/sorted-tree.ts'
import { LogPages } from './log-pages.ts'
import { LogStore, type StoreEnvironment } from './log-store.ts'
import type { Batch, KeySpan, Latest, LogEntry, Meta, Tables, WrittenEntry } from './tables.ts'

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
  #latest = SortedTree.create<Latest>()
  readonly latest: Tables['latest'] = { get: (key) => this.#latest.get(key)?.revision }
  #log = new LogPages()
  #meta: Meta

  constructor(epoch: string) {
    // An empty list also needs a resource version, and '0' has another meaning.
    this.#meta = { profile: '', epoch, revision: 1, compacted: 1, swept: 1 }
  }

  /** A copy that shares the contents of log and index. A write to either does not change the other. */
  fork(epoch = this.#meta.epoch): MemoryTables {
    const fork = new MemoryTables(epoch)
    fork.#latest = this.#latest.fork()
    fork.#log = this.#log.fork()
    fork.#meta = { ...this.#meta, epoch }
    return fork
  }

  get revision(): Revision {
    return this.#meta.revision
  }

  get meta(): Meta {
    return this.#meta
  }

  get density(): number {
    return this.#log.density
  }

  keys({ prefix, start }: KeySpan): Latest[] {
    const found: Latest[] = []
    for (const latest of this.#latestFrom(prefix > start ? prefix : start)) {
      if (!latest.key.startsWith(prefix)) break
      found.push(latest)
    }
    return found
  }

  entry(revision: Revision): WrittenEntry | undefined {
    return this.#log.get(revision)
  }

  visit(show: Parameters<Tables['visit']>[0]): void {
    const latest = [...this.#latestFrom('')]
    const values = new Map<Revision, Uint8Array | undefined>()
    // In the order of the log, so that each page is unpacked once.
    for (const { revision } of latest.toSorted((a, b) => a.revision - b.revision)) values.set(revision, this.#log.get(revision)?.value)
    for (const { key, revision } of latest) {
      const value = values.get(revision)
      if (value !== undefined) show({ key, revision, value })
    }
  }

  *revisions(after: Revision): Iterable<Revision> {
    for (const { revision } of this.#log.after(after)) yield revision
  }

  entries(after: Revision): Iterable<WrittenEntry> {
    return this.#log.after(after)
  }

  write({ appended, removed, meta }: Batch): undefined {
    for (const entry of appended) this.#append(entry)
    if (removed.length > 0) this.#log.remove(removed)
    this.#meta = { ...this.#meta, ...meta }
  }

  amend(revision: Revision, value: Uint8Array): void {
    this.#log.amend(revision, value)
  }

  sizes(): { bytes: number; freeBytes: number } {
    return { bytes: this.#log.size, freeBytes: 0 }
  }

  async close(): Promise<void> {
    this.#latest = SortedTree.create()
    this.#log = new LogPages()
  }

  #append(entry: LogEntry): void {
    const { key, revision, value } = entry
    const latest = { key, revision }
    const replaced = value === undefined ? this.#latest.delete(key) : this.#latest.set(latest)
    // The first string of a key serves all its entries.
    if (replaced !== undefined) latest.key = replaced.key
    this.#log.append(entry, latest.key)
  }

  *#latestFrom(start: string): Generator<Latest, void, undefined> {
    for (const { leaf, from, to } of this.#latest.walk(start, '\uffff'))
      for (let index = from; index < to; index++) yield at(leaf.items, index)
  }
}
