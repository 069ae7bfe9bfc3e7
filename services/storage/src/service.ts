import type { CallContext, ChangesRequest, StorageService, StorageStatus, Store, StoreSnapshot } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import type { Profile } from '@orch/core/names'
import { type Clock, ended, type Metrics, systemChance, systemClock, type Timer } from '@orch/platform'
import { compareWithStore } from './audit.ts'
import { ChangeStream, type ChangeStreamParts } from './changes.ts'
import { Commits, type CommitsOptions, type Rewrite } from './commits.ts'
import { ConsistencyChecks } from './consistency-checks.ts'
import { type Due, Expiry } from './expiry.ts'
import { type Leadership, soleLeadership } from './leadership.ts'
import { limits } from './limits.ts'
import { PastBudget } from './memory/history.ts'
import type { StoredObject } from './memory/stored-object.ts'
import type { Tree } from './memory/tree.ts'
import { PastChanges } from './past-changes.ts'
import { Reads } from './reads.ts'
import { type HeldState, type Reencode, State, type StateFollowers } from './state.ts'
import { Window } from './window.ts'

/** The dependencies of the storage service. */
export interface StorageOptions {
  /** The owner closes it after the service. */
  readonly store: Store
  /** The snapshot of another service with which the store begins; undefined if the service reads the state from the store. */
  readonly from?: StateSnapshot | undefined
  readonly clock?: Clock
  readonly metrics?: Metrics | undefined
  /** The leadership among replicas of a shared store. Only the leader compacts and expires. */
  readonly leadership?: Leadership
  readonly reencode?: Reencode
  /** The profile of the objects' names; default: `orch`. */
  readonly profile?: Profile
  /** The retention of changes. With Infinity changes are forgotten only if they exceed the size limit. */
  readonly watchHistoryMs?: number
  readonly historyBytesMax?: number
  /** Maximum bytes of superseded objects in a store without a disk. */
  readonly pastBytesMax?: number
  /** Called when changes up to a revision are forgotten because of the size limit, at any age. */
  readonly onPastFull?: ((upTo: Revision) => void) | undefined
  readonly randomId?: () => string
  /** Receives failures of background work. */
  readonly onError?: (error: unknown, what: string) => void
  /** Called in the turn in which an object is replaced or deleted, before any answer or stream contains the change. */
  readonly onSuperseded?: ((key: string) => void) | undefined
}

/** An immutable snapshot of the state, for `restore` and for further services. It outlives the service. */
export interface StateSnapshot {
  readonly revision: Revision
}

/** The store's part of a snapshot, with which another store can begin; undefined if the store is not in memory. */
export function storeOf(snapshot: StateSnapshot): StoreSnapshot | undefined {
  return heldIn(snapshot).store
}

function heldIn(snapshot: StateSnapshot): HeldSnapshot {
  if (!(snapshot instanceof HeldSnapshot)) throw new TypeError('a snapshot is made by snapshot()')
  return snapshot
}

/** The storage service with the methods for the process that holds it. */
export interface Storage extends StorageService {
  /** Like `commit` for each, in order; all are visible and answered together. A commit that `commit` would reject has the outcome `failed`. */
  readonly commitAll: Commits['commitAll']
  /** The present state. */
  snapshot(): StateSnapshot
  /**
   * Restores a state by new writes, so that revisions continue; objects keep their uids and get new resource versions. Streams of changes end with
   * `expired`, and earlier tokens and revisions are refused.
   */
  restore(snapshot: StateSnapshot): Promise<void>
  /**
   * Edits the text of an object without a new revision; `edit` is called for the metadata and for the rest. Only allowed before the first read. The
   * length of the metadata must not change.
   */
  amend(key: string, edit: (text: string) => string): void
  /**
   * Calls back in the event loop turn of a commit. From now on commits are answered at the end of their turn, after work that the callback has
   * deferred, so that a watcher receives a change no later than its writer gets the answer.
   */
  beforeAnswers(callback: () => void): void
  /** Forgets changes up to a revision, as the window does. */
  compact(revision: Revision): Promise<void>
  /** The store's reusable pages and the size of its memory, for metrics. */
  sizes(): { readonly objectBytes: number; readonly historyBytes: number; readonly storeBytes: number; readonly storeFreeBytes: number }
  /** The number of objects by the storage prefix of their resource. */
  objectCounts(): ReadonlyMap<string, number>
  /** True if a resource with this storage prefix has objects. */
  hasObjects(prefix: string): boolean
  /** Ends all streams and timers. */
  close(): void
}

/** Storage over a store: loads the state into memory and serves it. */
export async function createStorage(options: StorageOptions): Promise<Storage> {
  const { store, reencode, clock = systemClock, onError, historyBytesMax: bytesMax = limits.historyBytesMax } = options
  const stateOptions = { store, reencode, historyBytesMax: bytesMax, clock, onError }
  const from = options.from === undefined ? undefined : heldIn(options.from)
  const state = from === undefined ? await State.load(stateOptions) : State.from(from.state, stateOptions)
  return new StorageOverStore(options, state, from?.due)
}

/** Combines both followers of superseded objects, or returns the only one. */
function followSuperseded(
  onKey: StorageOptions['onSuperseded'],
  count: StateFollowers['onSuperseded'],
): Pick<StateFollowers, 'onSuperseded'> {
  if (onKey === undefined) return count === undefined ? {} : { onSuperseded: count }
  return {
    onSuperseded(object, revision) {
      onKey(object.key)
      count?.(object, revision)
    },
  }
}

class HeldSnapshot implements StateSnapshot {
  readonly state: HeldState
  readonly store: StoreSnapshot | undefined
  readonly due: readonly Due[]

  constructor(state: HeldState, store: StoreSnapshot | undefined, due: readonly Due[]) {
    this.state = state
    this.store = store
    this.due = due
  }

  get revision(): Revision {
    return this.state.revision
  }
}

class StorageOverStore implements Storage {
  readonly #store: Store
  readonly #state: State
  readonly #options: StorageOptions
  readonly #leadership: Leadership
  readonly #expiry: Expiry
  readonly #closing = new AbortController()
  readonly #streams = new Set<ChangeStream>()
  readonly #streamParts: ChangeStreamParts
  readonly #commits: Commits
  /** Finds lost changes in a store that may lose some. */
  readonly #lostChanges: LostChanges | undefined
  /** Compares caches with a store to which others also write. */
  readonly #checks: ConsistencyChecks | undefined
  /** Undefined if changes are kept at any age. */
  readonly #window: Window | undefined
  /** Set while a position is due. */
  #positionTimer: Timer | undefined
  readonly get: Reads['get']
  readonly getAt: Reads['getAt']
  readonly list: Reads['list']
  readonly commit: Commits['commit']
  readonly commitAll: Commits['commitAll']
  readonly history: PastChanges['history']
  readonly revisionAt: PastChanges['revisionAt']

  constructor(options: StorageOptions, state: State, due?: readonly Due[]) {
    const { store, clock = systemClock, onError, watchHistoryMs = limits.watchHistoryMsDefault, randomId = systemChance.uuid } = options
    this.#options = options
    this.#store = store
    this.#state = state
    this.#streamParts = { state, notifier: state.notifier, onClose: (stream) => this.#streams.delete(stream) }
    this.#leadership = options.leadership ?? soleLeadership
    const reads = new Reads({ store, state, clock, metrics: options.metrics, closing: this.#closing.signal })
    this.get = reads.get
    this.getAt = reads.getAt
    this.list = reads.list
    const past = new PastChanges({ store, state })
    this.history = past.history
    this.revisionAt = past.revisionAt
    const commits = new Commits({ store, state, clock, randomId })
    this.#commits = commits
    this.commit = commits.commit
    this.commitAll = commits.commitAll
    this.#expiry = new Expiry({ clock, remove: (expired) => this.#expire(expired), due })
    const { shared } = store
    if (shared !== undefined) {
      const onDifference = (error: unknown) => onError?.(error, 'comparing memory with the store')
      if (shared.mayLoseChanges) this.#lostChanges = new LostChanges({ store, state, commits, clock, onError: onDifference })
      const resources = () => this.objectCounts().keys()
      this.#checks = new ConsistencyChecks({ shared, state, resources, clock, metrics: options.metrics, onError: onDifference })
    }
    const compact = (upTo: Revision) => {
      if (this.#leadership.isLeader) this.#compactSoon(upTo)
    }
    const historyMs = watchHistoryMs
    this.#window =
      historyMs === Number.POSITIVE_INFINITY ? undefined : new Window({ clock, historyMs, revision: () => state.revision, compact })
    state.notifier.onMoved = () => this.#planPosition()
    this.#planPosition()
    this.#expireAll()
    const budget = store.density === undefined ? undefined : this.#pastBudget(store.density)
    state.followers = {
      onExpiring: (object) => this.#expiry.add(object),
      onForgotten: () => {
        this.#lostChanges?.auditSoon()
        // For an unshared store with a damaged past: removes the remaining past.
        if (shared === undefined) this.#compactSoon(state.compacted)
      },
      onReloaded: () => this.#expireAll(),
      ...followSuperseded(options.onSuperseded, budget?.count),
    }
  }

  changes = (request: ChangesRequest, context?: CallContext): ChangeStream => {
    const stream = new ChangeStream(request, this.#streamParts, context?.signal)
    if (this.#closing.signal.aborted) stream.close()
    else if (context?.signal?.aborted !== true) this.#streams.add(stream)
    return stream
  }

  status = async ({ asksMembers }: { readonly asksMembers?: boolean | undefined }): Promise<StorageStatus> => {
    const { shared } = this.#store
    const members = asksMembers === true ? ((await shared?.members()) ?? [this.#store.status().refusing]) : []
    const { epoch, revision, compacted, tree, bytes } = this.#state
    return {
      epoch,
      revision,
      compacted,
      refusing: this.#store.status().refusing,
      entries: tree.size,
      bytes,
      profile: this.#options.profile ?? 'orch',
      members,
    }
  }

  snapshot(): StateSnapshot {
    return new HeldSnapshot(this.#state.hold(), this.#store.snapshot?.(), this.#expiry.due)
  }

  amend(key: string, edit: (text: string) => string): void {
    this.#state.amend(key, edit)
  }

  async restore(snapshot: StateSnapshot): Promise<void> {
    const { tree } = heldIn(snapshot).state
    await this.#commits.holding(() => this.#restore(tree))
  }

  beforeAnswers(callback: () => void): void {
    this.#commits.isAnsweredLast = true
    this.#state.followers = { ...this.#state.followers, onChanged: callback }
  }

  async compact(revision: Revision): Promise<void> {
    // Readers are refused first, because they must not read a past that is being removed. A shared store notifies all its replicas.
    if (this.#store.shared === undefined) this.#state.forget(Math.min(revision, this.#state.revision))
    await this.#store.compact(revision)
  }

  sizes(): ReturnType<Storage['sizes']> {
    const { bytes: storeBytes, freeBytes: storeFreeBytes } = this.#store.status()
    return { objectBytes: this.#state.bytes, historyBytes: this.#state.history.bytes, storeBytes, storeFreeBytes }
  }

  objectCounts(): ReadonlyMap<string, number> {
    const { tree } = this.#state
    const counts = new Map<string, number>()
    for (let from = 0; from < tree.size; ) {
      const key = tree.at(from)?.key
      if (key === undefined) break
      const [group = '', plural] = key.split('/', 3)
      const prefix = plural === undefined ? group : `${group}/${plural}`
      // Keys with the prefix and a slash end before the character after the slash.
      const end = Math.max(from + 1, tree.rank(`${prefix}0`))
      counts.set(prefix, (counts.get(prefix) ?? 0) + end - from)
      from = end
    }
    return counts
  }

  hasObjects(prefix: string): boolean {
    const { tree } = this.#state
    return tree.rank(`${prefix}0`) > tree.rank(`${prefix}/`)
  }

  close(): void {
    this.#window?.close()
    this.#expiry.close()
    this.#state.notifier.onMoved = undefined
    this.#positionTimer?.cancel()
    this.#lostChanges?.close()
    this.#checks?.close()
    this.#closing.abort(ended)
    for (const stream of this.#streams) stream.close()
    this.#state.close()
  }

  /** Plans one position for all streams, a while after a change or a new stream. */
  #planPosition(): void {
    const { clock = systemClock } = this.#options
    const { notifier } = this.#state
    this.#positionTimer ??= clock.after(
      limits.positionIntervalMs,
      () => {
        this.#positionTimer = undefined
        notifier.tick(this.#state.revision)
        this.#window?.planTurn()
      },
      { repeats: true },
    )
  }

  /** From now on the objects that will expire are known. */
  #expireAll(): void {
    for (const object of this.#state.takeExpiring()) this.#expiry.add(object)
  }

  async #expire({ key, revision }: { readonly key: string; readonly revision: Revision }): Promise<void> {
    if (this.#leadership.isLeader) await this.#commits.remove(key, revision)
    else if (this.#state.tree.get(key)?.revision === revision) throw new Error('another replica expires objects')
  }

  #compactSoon(upTo: Revision): void {
    this.compact(upTo).catch((error: unknown) => this.#options.onError?.(error, 'compaction'))
  }

  /** Counts superseded objects in a store without a disk. */
  #pastBudget(density: () => number): PastBudget {
    const { pastBytesMax: bytesMax = limits.pastBytesMax, onPastFull } = this.#options
    const onFull = (upTo: Revision) => {
      onPastFull?.(upTo)
      this.#compactSoon(upTo)
    }
    return new PastBudget({ bytesMax, density, onFull })
  }

  async #restore(target: Tree): Promise<void> {
    const { notifier } = this.#state
    notifier.isSilent = true
    try {
      await restoreTree(target, this.#state, this.#commits)
      this.#state.epoch = await this.#store.renewEpoch()
      // Clients cannot read earlier revisions; the store keeps them.
      this.#state.forget(this.#state.revision)
    } finally {
      notifier.isSilent = false
      notifier.notifyAll()
    }
  }
}

/** Restores the objects of an earlier tree by new writes: revisions continue. */
async function restoreTree(target: Tree, state: State, commits: Commits): Promise<void> {
  // Commits that were requested before the restore are among the undone changes.
  await commits.settled()
  let writes = differences(state.tree.fork(), target)
  while (writes.length > 0) {
    const [some, later] = [writes.slice(0, limits.restoredPerTurn), writes.slice(limits.restoredPerTurn)]
    const outcomes = await commits.rewriteAll(some)
    for (const outcome of outcomes) if (outcome.kind === 'failed') throw outcome.error
    // A commit from before the restore may still be open.
    const open = some
      .filter((_, index) => outcomes[index]?.kind !== 'written')
      .map((write) => ({ ...write, expected: state.tree.get(write.key)?.revision ?? 0 }))
      .filter(({ object, expected }) => object !== undefined || expected !== 0)
    writes = [...later, ...open]
    if (later.length > 0) await new Promise((resolve) => setImmediate(resolve))
  }
}

/** The writes that turn a tree into another tree, in key order. Skips leaves that both share. */
function differences(current: Tree, target: Tree): Rewrite[] {
  const [leaves, wantedLeaves] = [leavesOf(current), leavesOf(target)]
  const [own, wanted] = [objectsWithout(leaves, wantedLeaves), objectsWithout(wantedLeaves, leaves)]
  const writes: Rewrite[] = []
  let next = 0
  for (const object of wanted) {
    const { key } = object
    let present = own[next]
    for (; present !== undefined && present.key < key; present = own[++next]) writes.push({ key: present.key, expected: present.revision })
    const expected = present?.key === key ? present.revision : 0
    if (expected !== 0) next++
    if (expected !== object.revision) writes.push({ key, object, expected })
  }
  for (const { key, revision } of own.slice(next)) writes.push({ key, expected: revision })
  return writes
}

type Leaves = ReadonlySet<readonly StoredObject[]>

function leavesOf(tree: Tree): Leaves {
  const leaves = new Set<readonly StoredObject[]>()
  for (const { objects } of tree.walk('', '\uffff')) leaves.add(objects)
  return leaves
}

function objectsWithout(leaves: Leaves, excluded: Leaves): StoredObject[] {
  return [...leaves].filter((leaf) => !excluded.has(leaf)).flat()
}

/** The dependencies of the search for changes that memory has missed. */
interface LostChangesOptions extends Pick<CommitsOptions, 'store' | 'state' | 'clock'> {
  readonly commits: Commits
  readonly onError: (error: unknown) => void
}

/** After each compaction, compares memory with a store that may lose changes at the compaction. */
class LostChanges {
  readonly #options: LostChangesOptions
  /** The compaction after which memory was last compared with the store, or is about to be. */
  #audited: Revision
  #timer: { cancel(): void } | undefined

  constructor(options: LostChangesOptions) {
    this.#options = options
    this.#audited = options.state.compacted
  }

  /** The owner calls this when the state has changed. */
  auditSoon(): void {
    const { state, clock, onError } = this.#options
    const { compacted } = state
    if (compacted <= this.#audited) return
    this.#audited = compacted
    this.#timer?.cancel()
    this.#timer = clock.after(limits.auditDelayMs, () => void this.#audit().catch(onError), { background: true })
  }

  close(): void {
    this.#timer?.cancel()
  }

  /** Writes a missed change once more, so that every reader receives it as a change. */
  async #audit(): Promise<void> {
    const { store, state, commits, onError } = this.#options
    if (store.shared === undefined || state.loading !== undefined) return
    const { changed, gone } = await compareWithStore(state, store.shared)
    for (const { key, revision } of changed) {
      const record = await store.getAt(key, state.revision)
      if (record?.revision === revision) await commits.writeAgain(state.toObject(key, revision, record.value), revision)
    }
    for (const object of gone) {
      const outcome = await commits.writeAgain(object, 0)
      if (outcome.kind === 'written') await commits.remove(object.key, outcome.revision)
    }
    if (changed.length + gone.length > 0) onError(new Error(`${changed.length + gone.length} changes were not delivered`))
  }
}
