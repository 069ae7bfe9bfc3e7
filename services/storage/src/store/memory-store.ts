import type { Store } from '@orch/core/contracts'
import { at } from '@orch/core/json'
import type { Revision } from '@orch/core/meta'
import { systemChance, systemClock } from '@orch/platform'
import { LogStore, type StoreEnvironment } from './log-store.ts'
import type { Batch, KeySpan, Latest, LogEntry, Meta, Tables } from './tables.ts'

/** A store that lives as long as the process. */
export function createMemoryStore(environment: Partial<StoreEnvironment> = {}): Store {
  const complete = { monotonic: systemClock.monotonic, randomId: systemChance.uuid, ...environment }
  return new LogStore(new MemoryTables(complete.randomId()), complete)
}

/** A log and an index that live as long as the process. */
export class MemoryTables implements Tables {
  readonly isImmediate = true
  readonly isFull = false
  readonly #latest = new Map<string, Revision>()
  readonly latest: Tables['latest'] = this.#latest
  readonly #log = new Map<Revision, LogEntry>()
  /** Keys of the log, ascending. */
  #revisions: Revision[] = []
  #bytes = 0
  #meta: Meta

  constructor(epoch: string) {
    // An empty list needs a version too, and '0' means something else.
    this.#meta = { profile: '', epoch, revision: 1, compacted: 1, swept: 1 }
  }

  get meta(): Meta {
    return this.#meta
  }

  keys({ prefix, start }: KeySpan): Latest[] {
    const found: Latest[] = []
    for (const [key, revision] of this.#latest) if (key.startsWith(prefix) && key >= start) found.push({ key, revision })
    return found.sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  entry(revision: Revision): LogEntry | undefined {
    return this.#log.get(revision)
  }

  visit(show: Parameters<Tables['visit']>[0]): void {
    for (const { key, revision } of this.keys({ prefix: '', start: '' })) {
      const value = this.#log.get(revision)?.value
      if (value !== undefined) show({ key, revision, value })
    }
  }

  *revisions(after: Revision): Iterable<Revision> {
    for (let index = this.#firstAfter(after); index < this.#revisions.length; index++) yield at(this.#revisions, index)
  }

  *entries(after: Revision): Iterable<LogEntry> {
    for (const revision of this.revisions(after)) yield this.#log.get(revision)!
  }

  write({ appended, removed, meta }: Batch): undefined {
    for (const entry of appended) this.#append(entry)
    for (const revision of removed) this.#remove(revision)
    if (removed.length > 0) this.#revisions = this.#revisions.filter((revision) => this.#log.has(revision))
    this.#meta = { ...this.#meta, ...meta }
  }

  adopt(revision: Revision, restore: () => Uint8Array): void {
    const entry = this.#log.get(revision)
    if (entry === undefined) return
    this.#bytes -= sizeOf(entry)
    const adopted = new AdoptedEntry(entry, restore)
    this.#log.set(revision, adopted)
    this.#bytes += sizeOf(adopted)
  }

  sizes(): { bytes: number; freeBytes: number } {
    return { bytes: this.#bytes, freeBytes: 0 }
  }

  async close(): Promise<void> {
    this.#latest.clear()
    this.#log.clear()
    this.#revisions = []
  }

  #append(entry: LogEntry): void {
    this.#log.set(entry.revision, entry)
    this.#revisions.push(entry.revision)
    this.#bytes += sizeOf(entry)
    if (entry.value === undefined) this.#latest.delete(entry.key)
    else this.#latest.set(entry.key, entry.revision)
  }

  #remove(revision: Revision): void {
    const entry = this.#log.get(revision)
    if (entry === undefined) return
    this.#log.delete(revision)
    this.#bytes -= sizeOf(entry)
  }

  #firstAfter(revision: Revision): number {
    let low = 0
    let high = this.#revisions.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (at(this.#revisions, middle) <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** An entry whose value is held by another object. */
class AdoptedEntry implements LogEntry {
  readonly revision: Revision
  readonly previous: Revision
  readonly replaces: Revision
  readonly key: string
  readonly writeId: string
  readonly #restore: () => Uint8Array

  constructor({ revision, previous, replaces, key, writeId }: LogEntry, restore: () => Uint8Array) {
    this.revision = revision
    this.previous = previous
    this.replaces = replaces
    this.key = key
    this.writeId = writeId
    this.#restore = restore
  }

  get value(): Uint8Array {
    return this.#restore()
  }
}

function sizeOf(entry: LogEntry): number {
  return entry.key.length + (entry instanceof AdoptedEntry ? 0 : (entry.value?.length ?? 0))
}
