import type { Revision } from '../meta/revision.ts'

/** One version of one key. */
export interface StoreRecord {
  readonly key: string
  readonly revision: Revision
  readonly value: Uint8Array
  /** The reason why the value cannot be read; `value` is then empty. Only `visit` returns such records. */
  readonly problem?: string | undefined
}

/** The first bytes of a value, and the length of the whole value. */
export interface ValueFront {
  readonly bytes: Uint8Array
  readonly length: number
}

/** A record as `visit` shows it. */
export interface ShownRecord extends StoreRecord {
  /** The beginning of `value`, if the store has it without reading the value, which is then read on demand. */
  readonly front?: ValueFront | undefined
}

/** A put or a delete. */
export interface StoreChange {
  readonly revision: Revision
  /** The revision of the previous change in the whole store; 0 for the first one. */
  readonly previous: Revision
  readonly key: string
  readonly writeId: string
  /** Undefined for a delete. */
  readonly value?: Uint8Array | undefined
  /** The revision of the replaced or deleted record, for `recordAt`; 0 if the key was absent. */
  readonly replaces: Revision
  /** The time of the commit in milliseconds since 1970, by the store's clock; undefined if the store does not record it. */
  readonly timeMs?: number | undefined
  /** The request that caused it; undefined if the server itself made the change, or the store does not record requests. */
  readonly origin?: WriteOrigin | undefined
}

/** The request that caused a write. */
export interface WriteOrigin {
  /** The audit ID. */
  readonly request: string
  /** The user's name after impersonation. */
  readonly user: string
}

/** Another key must have this revision; 0 means that it must be absent. */
export interface StoreCondition {
  readonly key: string
  readonly revision: Revision
}

/** A requested put or delete. */
export interface StoreCommit {
  readonly key: string
  /** The required revision of the key; 0 if it must be absent. */
  readonly expected: Revision
  readonly conditions: readonly StoreCondition[]
  /** Undefined for a delete. */
  readonly value?: Uint8Array | undefined
  readonly writeId: string
  /** Called when the commit is checked. True refuses the commit, since its caller no longer waits. */
  readonly isLate?: (() => boolean) | undefined
  /** The W3C `traceparent` of the call; undefined without a trace. */
  readonly traceparent?: string | undefined
  readonly origin?: WriteOrigin | undefined
}

/** The result of a commit. */
export type StoreOutcome =
  | { readonly kind: 'written'; readonly revision: Revision }
  /** The key has another revision than expected. */
  | { readonly kind: 'stale' }
  /** The condition with this index does not hold. */
  | { readonly kind: 'unmet'; readonly index: number }
  | { readonly kind: 'late' }

/** A commit that `commit` would reject. */
export interface FailedCommit {
  readonly kind: 'failed'
  readonly error: unknown
}

/** The records of a range at one revision, in key order. */
export interface StorePage {
  readonly records: readonly StoreRecord[]
  /** The key of the first record after this page; undefined after the last page. */
  readonly next?: string | undefined
}

/** A range of records to read. */
export interface StoreRange {
  readonly prefix: string
  /** The first key to read; '' for the start of the prefix. */
  readonly start: string
  /** Maximum number of records per page; pages with large values may have fewer. 0 for no limit. */
  readonly limit: number
  /** Between the compacted revision and the store's revision, inclusive. */
  readonly revision: Revision
}

/** Past changes, or the reason why they are unavailable. */
export type StoreHistory =
  | { readonly kind: 'changes'; readonly changes: readonly StoreChange[] }
  /** Changes after the requested revision are partly compacted; those after `compacted` are complete. */
  | { readonly kind: 'compacted'; readonly compacted: Revision }

/** The state of a store. */
export interface StoreStatus {
  readonly epoch: string
  /** The store's revision: all changes up to it are durable and visible, and were delivered to listeners. */
  readonly revision: Revision
  /** Changes up to here have been compacted; the state at exactly this revision can still be read. */
  readonly compacted: Revision
  /** '' if writes are possible, otherwise the reason why not. */
  readonly refusing: string
  /** Size in bytes on disk, or in memory for a store without a disk. */
  readonly bytes: number
  /** The part of these bytes that later writes can reuse. */
  readonly freeBytes: number
}

/** An immutable snapshot of a store in memory, from which another store can start. */
export interface StoreSnapshot {
  readonly revision: Revision
}

/** The additional interface of a store that several processes write to: its newest revision may not have arrived in this process yet. */
export interface SharedStore {
  /** A revision at least as new as every commit of any process that was answered before the call. */
  latest(): Promise<Revision>
  /**
   * Requests a position soon. False if there are no positions, because the store's revision moves only with its own
   * changes, while the newest revision may count changes of others.
   */
  askPosition(): boolean
  /**
   * Called when the changes read so far no longer lead to the store's contents: the store was restored, or changes
   * were compacted before they arrived here. All holders of state must read it again. Attached like listeners.
   */
  onReplaced(listener: () => void): () => void
  /** Called when the store or its backend stops answering and when it answers again. Attached like listeners. */
  onReachable(listener: (isReachable: boolean) => void): () => void
  /** Shows all keys and their revisions, without values, in key order, at a revision up to the store's. */
  visitRevisions(show: (key: string, revision: Revision) => void): Promise<Revision>
  /** Asks each member of the store's backend: '' or the reason why it does not answer. */
  members(): Promise<readonly string[]>
  /** True if changes may be lost when the store compacts its history; the state must then be compared with the store. */
  readonly mayLoseChanges: boolean
}

/**
 * A map from key to bytes with one global revision: etcd's model.
 * 1. A commit that answers `written` is durable (as far as the store is), and visible to every later read.
 * 2. Revisions only grow. No two changes share one, one revision changes one key, and none is used twice, not even one
 *    one of a failed commit. A failed commit may leave a gap.
 * 3. A commit with another outcome, or a rejected one, changes nothing and is never visible.
 * 4. Commits are checked one after the other, each against the outcome of all earlier ones.
 * 5. Listeners receive each change once, in order, in the same turn in which it becomes visible, and before the
 *    commit's outcome is delivered.
 * 6. `range`, `count` and `getAt` answer for exactly the asked revision as long as it is not below the compacted one.
 * 7. `history` gives every change after the requested revision, in order, or reports that it cannot.
 * 8. An epoch identifies one sequence of revisions; only `renewEpoch` changes it.
 * 9. A returned value never changes, even if the store does.
 */
export interface Store {
  /** Rejects with a 503 StatusError if the store cannot write; the reason is in `status().refusing`. */
  commit(commit: StoreCommit): Promise<StoreOutcome>
  /** Like `commit` for each, in order; listeners see the results together. If a store lacks this method, callers commit one by one. */
  readonly commitAll?: ((commits: readonly StoreCommit[]) => Promise<(StoreOutcome | FailedCommit)[]>) | undefined
  /** The key's record at the newest revision up to the given one. */
  getAt(key: string, revision: Revision): Promise<StoreRecord | undefined>
  /** The key's record written at exactly this revision. It is available while it is current, or while the change that replaced it is. */
  recordAt(key: string, revision: Revision): Promise<StoreRecord | undefined>
  /** The number of records that `range` would return without a limit. */
  count(range: { readonly prefix: string; readonly start: string; readonly revision: Revision }): Promise<number>
  range(range: StoreRange): Promise<StorePage>
  /** Shows every record at the store's revision, in key order. The bytes belong to the store and are valid only during the call. */
  visit(show: (record: ShownRecord) => void): Promise<void>
  /**
   * The value that `visit` has shown, until the key changes, and still in the turn in which listeners see that change.
   * The bytes belong to the store and are valid until the next call. A store that cannot return the value at once lacks this method.
   */
  readonly recall?: ((key: string, revision: Revision) => Uint8Array) | undefined
  /** At most `limit` changes after a revision: fewer if they are large, and at least one if there is one. Rejects with 410 if they are present but unreadable. */
  history(after: Revision, limit: number): Promise<StoreHistory>
  /** The listener is attached when the function returns; the returned function detaches it. An empty list means that the store's revision has grown or its epoch has changed. */
  listen(listener: (changes: readonly StoreChange[]) => void): () => void
  /** Drops the history up to a revision: superseded versions and deletions. A future revision is an error. */
  compact(revision: Revision): Promise<void>
  /** Replaces the value written at a revision, without a change. Only a store without a disk has this method. */
  readonly amend?: ((revision: Revision, value: Uint8Array) => void) | undefined
  /** Only of a store without a disk: bytes in memory for each byte of a value, below 1 since the store compresses its past. */
  readonly density?: (() => number) | undefined
  /** A snapshot of the current state with its history. Only a store without a disk has this method, which takes constant time. */
  readonly snapshot?: (() => StoreSnapshot) | undefined
  /** True if rewriting the key's value would encrypt it with another key. */
  isStale?(key: string): boolean
  /** Only for a store to which other processes write too. */
  readonly shared?: SharedStore | undefined
  /** Sets a new random epoch, which is durable when the promise resolves. */
  renewEpoch(): Promise<string>
  status(): StoreStatus
  /** Waits for open commits; later commits are rejected. */
  close(): Promise<void>
}
