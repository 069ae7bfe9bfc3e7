import type { ShownRecord, StoreChange, StoreSnapshot } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'

/** One entry of the log: a put, or a delete if it has no value. */
export type LogEntry = StoreChange

/** An entry that was read from the log. */
export interface WrittenEntry extends LogEntry {
  /** Bytes of the entry in the log. */
  readonly length: number
}

/** The store's notes about itself. */
export interface Meta {
  readonly profile: string
  readonly epoch: string
  /** The highest revision that a successful flush has used. */
  readonly revision: Revision
  readonly compacted: Revision
  /** A compaction has removed all that it may up to here; this is behind `compacted` only after a crash. */
  readonly swept: Revision
}

/** The contents of one flush, written completely or not at all. */
export interface Batch {
  readonly appended: readonly LogEntry[]
  /** Revisions of log entries to remove. */
  readonly removed: readonly Revision[]
  /** The writer's own notes only: two writers may be active at once. */
  readonly meta: Partial<Meta>
  /** On a full disk, batches that make room continue after others are refused: first deletions, then compaction's sweeps. */
  readonly purpose: 'put' | 'delete' | 'sweep'
}

/** The medium has no room for a batch and has written nothing of it. */
export class NoRoomError extends Error {}

/** A span of keys, in order. */
export interface KeySpan {
  readonly prefix: string
  /** The first key of the span; '' from the prefix on. */
  readonly start: string
}

/** The state of one key in the index of latest. */
export interface Latest {
  readonly key: string
  readonly revision: Revision
}

/**
 * A log of revisions and an index of latest (key → revision), on any medium. Reads are synchronous and return a copy; iterators are used up within the
 * turn.
 */
export interface Tables {
  readonly meta: Meta
  /** True if `write` is done when it returns, so that waiting and grouping are unnecessary. */
  readonly isImmediate: boolean
  /** True if the medium has only a reserve left, so that small requests are better. */
  readonly isFull: boolean
  /** The revisions of the current records of keys; a key without a revision is absent. */
  readonly latest: { get(key: string): Revision | undefined }
  keys(span: KeySpan): Iterable<Latest>
  entry(revision: Revision): WrittenEntry | undefined
  /** Shows all keys of the index in order, each with its revision and its value, whose bytes are valid only during the call. */
  visit(show: (record: ShownRecord) => void): void
  /** Revisions of log entries after a revision, oldest first; the entries are not read. */
  revisions(after: Revision): Iterable<Revision>
  /** Entries after a revision, oldest first. */
  entries(after: Revision): Iterable<WrittenEntry>
  /**
   * Resolves when the batch is durable. If it rejects with a NoRoomError, nothing was written. After any other error it is unknown how much of this
   * batch and of later batches was written.
   */
  write(batch: Batch): Promise<void> | undefined
  /** Of tables on a medium: the value of the index's entry for a key, or of its previous entry while that exists; valid until the next call. */
  recall?(key: string, revision: Revision): Uint8Array
  /** Of tables in memory: the same as `Store.amend`. */
  amend?(revision: Revision, value: Uint8Array): void
  /** Of tables in memory: bytes in memory for each byte of an entry. */
  readonly density?: number
  /** Of tables in memory: the same log and index for another store. */
  fork?(epoch?: string): StoreSnapshot
  sizes(): { readonly bytes: number; readonly freeBytes: number }
  close(): Promise<void>
}
