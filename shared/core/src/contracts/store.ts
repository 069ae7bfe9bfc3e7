import type { Revision } from '../meta/revision.ts'

/** One version of one key. */
export interface StoreRecord {
  readonly key: string
  readonly revision: Revision
  readonly value: Uint8Array
  /** Why the value cannot be read; `value` is empty then. Only `visit` shows such records. */
  readonly problem?: string | undefined
}

/** The first bytes of a value, and how many the whole has. */
export interface ValueFront {
  readonly bytes: Uint8Array
  readonly length: number
}

/** A record as `visit` shows it. */
export interface ShownRecord extends StoreRecord {
  /** The beginning of `value`, if the store knows it without reading the value; the value is then read on demand. */
  readonly front?: ValueFront | undefined
}

/** One put or delete. */
export interface StoreChange {
  readonly revision: Revision
  /** Revision of the change before this one, in the whole store; 0: there was none. */
  readonly previous: Revision
  readonly key: string
  readonly writeId: string
  /** Absent: the key was deleted. */
  readonly value?: Uint8Array | undefined
  /** Revision of the record that it replaces or deletes, for `recordAt`; 0: the key was absent. */
  readonly replaces: Revision
  /** Time of the commit in milliseconds since 1970, by the store's clock. Absent: the store does not note it. */
  readonly timeMs?: number | undefined
  /** The request that it was made for. Absent: the server itself made it, or the store does not note it. */
  readonly origin?: WriteOrigin | undefined
}

/** The request of a write. */
export interface WriteOrigin {
  /** Its audit ID. */
  readonly request: string
  /** Name of its user, after impersonation. */
  readonly user: string
}

/** Another key must be at this revision; 0: must be absent. */
export interface StoreCondition {
  readonly key: string
  readonly revision: Revision
}

/** One put or delete that is asked for. */
export interface StoreCommit {
  readonly key: string
  /** Revision that the key must be at; 0: it must be absent. */
  readonly expected: Revision
  readonly conditions: readonly StoreCondition[]
  /** Absent: delete. */
  readonly value?: Uint8Array | undefined
  readonly writeId: string
  /** Called when the commit is checked: true refuses it, since its caller no longer waits. */
  readonly isLate?: (() => boolean) | undefined
  /** W3C `traceparent` of the call; absent: it is not traced. */
  readonly traceparent?: string | undefined
  readonly origin?: WriteOrigin | undefined
}

/** The result of a commit. */
export type StoreOutcome =
  | { readonly kind: 'written'; readonly revision: Revision }
  /** The key is at another revision than expected. */
  | { readonly kind: 'stale' }
  /** The condition of that number did not hold. */
  | { readonly kind: 'unmet'; readonly index: number }
  | { readonly kind: 'late' }

/** The records of a range at one revision, in the order of keys. */
export interface StorePage {
  readonly records: readonly StoreRecord[]
  /** Key of the first record after this page; absent: there is none. */
  readonly next?: string | undefined
}

/** The requested records. */
export interface StoreRange {
  readonly prefix: string
  /** First key to look at; '' from the prefix on. */
  readonly start: string
  /** Most records of a page, which may have fewer where values are large; 0: no limit. */
  readonly limit: number
  /** At most the store's revision, at least the compacted one. */
  readonly revision: Revision
}

/** A page of the past. */
export type StoreHistory =
  | { readonly kind: 'changes'; readonly changes: readonly StoreChange[] }
  /** Changes after the asked revision are expired; those after `compacted` are complete. */
  | { readonly kind: 'compacted'; readonly compacted: Revision }

/** The state of a store. */
export interface StoreStatus {
  readonly epoch: string
  /** The store's revision: every change up to it is durable and visible, and listeners have received it. */
  readonly revision: Revision
  /** The past up to here is expired; the state at exactly this revision can still be read. */
  readonly compacted: Revision
  /** '' when writes are possible, else the reason why not. */
  readonly refusing: string
  /** Bytes on disk, or in memory where there is no disk. */
  readonly bytes: number
  /** Their bytes that a later write can use again. */
  readonly freeBytes: number
}

/** A moment of a store in memory, with which another store can begin. It never changes. */
export interface StoreSnapshot {
  readonly revision: Revision
}

/** The differences of a store that several processes write to: its newest revision may not have arrived here yet. */
export interface SharedStore {
  /** A revision not below that of any commit, of anyone, that was answered before the call. */
  latest(): Promise<Revision>
  /**
   * Requests a position soon. False: there is none, as the store's revision moves with the changes of this
   * store alone, while the newest revision may count those of others.
   */
  askPosition(): boolean
  /**
   * Called when the changes read so far no longer lead to the store's contents: it was restored to its past, or changes
   * were forgotten before they arrived here. Every holder of state reads it anew. Attached like listeners.
   */
  onReplaced(listener: () => void): () => void
  /** Called when the store, or its backend, stops answering, and when it answers again. Attached like listeners. */
  onReachable(listener: (isReachable: boolean) => void): () => void
  /** Keys and revisions of the present, without values, at a revision at or before the store's, in the order of keys. */
  visitRevisions(show: (key: string, revision: Revision) => void): Promise<Revision>
  /** Asks each member of the store's backend: the reason why it does not answer, '' if it does. */
  members(): Promise<readonly string[]>
  /** Changes may be lost on their way when the store forgets its past: then the state wants to be compared with it. */
  readonly mayLoseChanges: boolean
}

/**
 * A map from key to bytes with one global revision: etcd's model.
 * 1. A commit that answers `written` is durable (as far as the store is), and visible to every later read.
 * 2. Revisions only grow. No two changes share one, one revision changes one key, and none is used twice, not even one
 *    that was given to a commit that failed. A failed commit may leave a gap.
 * 3. A commit that answers anything else, or is rejected, changes nothing, and is never visible.
 * 4. Commits are checked one after the other, each against the outcome of those before it.
 * 5. Listeners receive each change once, in order, in the same turn in which it becomes visible, and before the
 *    commit's outcome is delivered.
 * 6. `range`, `count` and `getAt` answer for exactly the asked revision as long as it is not below the compacted one.
 * 7. `history` gives every change after the asked revision, in order, or reports that it can't.
 * 8. An epoch belongs to one line of revisions; it changes with `renewEpoch` only.
 * 9. A returned value never changes when the store does.
 */
export interface Store {
  /** Rejected with a 503 StatusError if the store can't write; its cause is in `status().refusing`. */
  commit(commit: StoreCommit): Promise<StoreOutcome>
  /** As `commit` of each, one after the other, seen by listeners at once; a store that lacks it is given them one by one. */
  readonly commitAll?: ((commits: readonly StoreCommit[]) => Promise<StoreOutcome[]>) | undefined
  /** The key's record at the newest revision not above the given one. */
  getAt(key: string, revision: Revision): Promise<StoreRecord | undefined>
  /** The key's record that was written at exactly this revision; held while it is current, or replaced by a change that is held. */
  recordAt(key: string, revision: Revision): Promise<StoreRecord | undefined>
  /** Records in a range; as `range` would give them all. */
  count(range: { readonly prefix: string; readonly start: string; readonly revision: Revision }): Promise<number>
  range(range: StoreRange): Promise<StorePage>
  /** Shows every record at the store's revision at the time of the call, in the order of keys. Its bytes are the store's own: they are valid during the call only. */
  visit(show: (record: ShownRecord) => void): Promise<void>
  /**
   * The value that `visit` has shown, for as long as the key has not changed, and in the listeners' turn of the change that replaces it.
   * Its bytes are the store's own: they hold until the next call only. A store that would have to wait for it does not have this.
   */
  readonly recall?: ((key: string, revision: Revision) => Uint8Array) | undefined
  /** Changes after a revision, `limit` at most. Rejected with a 410 where they are held but cannot be read. */
  history(after: Revision, limit: number): Promise<StoreHistory>
  /** Attached when it returns; the returned function detaches. No changes: the store's revision has grown, or it has another epoch. */
  listen(listener: (changes: readonly StoreChange[]) => void): () => void
  /** Forgets the past up to a revision: superseded versions and deletions. A revision of the future is an error. */
  compact(revision: Revision): Promise<void>
  /**
   * Says that the caller keeps the value that was written at a revision, for as long as the store has the record, and can
   * give it again. Only a store without a disk has this: it then lets its own copy go.
   */
  readonly adopt?: ((revision: Revision, restore: () => Uint8Array) => void) | undefined
  /**
   * Says that the value of a revision, which was replaced at the other one (absent: deleted), will seldom be read. Only a store without a
   * disk has this: it then keeps the value in less room, and returns the bytes that it takes; undefined if nothing is known of it.
   */
  readonly pack?: ((revision: Revision, replacedAt: Revision | undefined) => number | undefined) | undefined
  /** The present moment, with its past. Only a store without a disk has this; it takes the same time for any number of records. */
  readonly snapshot?: (() => StoreSnapshot) | undefined
  /** True if a new write would store the key's present value otherwise: with another encryption key. */
  isStale?(key: string): boolean
  /** Only a store that others write to as well has this. */
  readonly shared?: SharedStore | undefined
  /** A new random epoch, durable when the promise resolves. */
  renewEpoch(): Promise<string>
  status(): StoreStatus
  /** Waits for open commits; later ones are rejected. */
  close(): Promise<void>
}
