import type { ShownRecord, StoreSnapshot, WriteOrigin } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'

/** One entry of the log: a put, or a delete where it has no value. */
export interface LogEntry {
  readonly revision: Revision
  /** Revision of the entry before this one, in the whole log. */
  readonly previous: Revision
  /** Revision of the record that this one replaces or deletes; 0: the key was absent. */
  readonly replaces: Revision
  readonly key: string
  readonly writeId: string
  readonly value?: Uint8Array | undefined
  /** Milliseconds since 1970; absent: an older version wrote the entry. */
  readonly timeMs?: number | undefined
  /** Absent: the server itself wrote it, or an older version. */
  readonly origin?: WriteOrigin | undefined
}

/** The store's notes of itself. */
export interface Meta {
  readonly profile: string
  readonly epoch: string
  /** The highest revision ever given out by a flush that succeeded. */
  readonly revision: Revision
  readonly compacted: Revision
  /** Up to here a compaction has removed all it may; behind `compacted` after a crash only. */
  readonly swept: Revision
}

/** The contents of one flush, written whole or not at all. */
export interface Batch {
  readonly appended: readonly LogEntry[]
  /** Revisions of log entries to remove. */
  readonly removed: readonly Revision[]
  /** This writer's own notes only: two writers may be active at once. */
  readonly meta: Partial<Meta>
  /** On a full disk, batches that make room continue after the rest is refused: deletions, then compaction's sweeps. */
  readonly purpose: 'put' | 'delete' | 'sweep'
}

/** The medium has no room for a batch; nothing of it was written. */
export class NoRoomError extends Error {}

/** A span of keys, in order. */
export interface KeySpan {
  readonly prefix: string
  /** First key of interest; '' from the prefix on. */
  readonly start: string
}

/** The state of one key in the index of latest. */
export interface Latest {
  readonly key: string
  readonly revision: Revision
}

/**
 * A log of revisions and an index of latest (key → revision), on any medium. Reads are calls that return at once and
 * return a copy; iterators are used up within the turn.
 */
export interface Tables {
  readonly meta: Meta
  /** True: `write` is done when it returns, so there is nothing to wait for and nothing to group. */
  readonly isImmediate: boolean
  /** True: the medium has no room left beyond a reserve, so it is better to ask for little at a time. */
  readonly isFull: boolean
  /** Revisions of the current records of keys; none: absent. */
  readonly latest: { get(key: string): Revision | undefined }
  keys(span: KeySpan): Iterable<Latest>
  entry(revision: Revision): LogEntry | undefined
  /** Shows all keys of the index in their order, each with its revision and its value, whose bytes hold during the call only. */
  visit(show: (record: ShownRecord) => void): void
  /** Revisions after a revision at which the log has an entry, oldest first, without reading the entries. */
  revisions(after: Revision): Iterable<Revision>
  /** Entries after a revision, oldest first. */
  entries(after: Revision): Iterable<LogEntry>
  /**
   * Resolves when the batch is durable. Rejected with a NoRoomError: nothing was written. Rejected otherwise: how much of it the medium holds is not
   * known, nor of any batch that was handed over since.
   */
  write(batch: Batch): Promise<void> | undefined
  /** Of tables on a medium: the value of the index's entry for a key, or of the one before while it is there; it holds until the next call only. */
  recall?(key: string, revision: Revision): Uint8Array
  /** Of tables in memory: another table holds the entry's value and returns it on demand. */
  adopt?(revision: Revision, restore: () => Uint8Array): void
  /** Of tables in memory: as `Store.pack`. */
  pack?(revision: Revision, replacedAt: Revision | undefined): number | undefined
  /** Of tables in memory: the same log and index for another store. */
  fork?(epoch?: string): StoreSnapshot
  sizes(): { readonly bytes: number; readonly freeBytes: number }
  close(): Promise<void>
}
