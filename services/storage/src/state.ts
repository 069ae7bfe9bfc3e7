import type { Change, ShownRecord, Store, StoreChange, StoreRecord } from '@orch/core/contracts'
import { type Revision, StatusError, serviceUnavailable } from '@orch/core/meta'
import { TransformedValueError } from '@orch/core/stored'
import { type Clock, ended, sleep, TurnBudget } from '@orch/platform'
import { type ChangesRead, Notifier, type StateReader } from './changes.ts'
import { limits } from './limits.ts'
import { type Happened, History, RecentWrites } from './memory/history.ts'
import {
  detach,
  Interner,
  isRead,
  jsonOf,
  type Room,
  read,
  Slabs,
  type StoredObject,
  toChange,
  toStored,
  toStoredObject,
  toUnreadObject,
} from './memory/stored-object.ts'
import { type Piece, Tree } from './memory/tree.ts'
import { DamagedStoreError } from './store/data-folder.ts'

/** A snapshot with which another state can begin. */
export interface HeldState {
  readonly tree: Tree
  readonly history: History
  readonly bytes: number
  readonly revision: Revision
}

/** Converts a value in another format or schema to the present format and schema. */
export interface Reencode {
  isCurrent(key: string, stored: Uint8Array): boolean
  convert(key: string, stored: Uint8Array): Uint8Array
}

/** A change of the store, with the objects before and after it. */
interface Applied extends Pick<Happened, 'before' | 'after'> {
  readonly change: StoreChange
}

/** The dependencies of the state. */
export interface StateOptions {
  readonly store: Store
  readonly reencode: Reencode | undefined
  readonly historyBytesMax: number
  readonly clock: Clock
  /** Called after each failed attempt to reload the state. */
  readonly onError?: ((error: unknown, what: string) => void) | undefined
}

/** Receives changes of the state, in the same turn and before waiting readers. */
export interface StateFollowers {
  /** Called when an object that expires was written. */
  onExpiring?(object: StoredObject): void
  /** Called when an object was replaced or deleted, with the revision. */
  onSuperseded?(object: StoredObject, revision: Revision): void
  /** Called after a commit, when the streams of changes are awake. */
  onChanged?(): void
  /** Called when the store has forgotten changes. */
  onForgotten?(): void
  /** Called when the state was reloaded. */
  onReloaded?(): void
}

/** The answer while memory is still loading. */
export function stateIsLoading(): Error {
  return serviceUnavailable('the state is being read anew', { retryAfterSeconds: limits.unavailableRetrySeconds })
}

/** A stored value is encrypted, and this server was started without its key. */
class NotDecryptedError extends Error {
  constructor(key: string, options: { readonly cause: unknown }) {
    super(`${key} is stored encrypted, and nothing here decrypts it: start with the configuration that it was written with`, options)
    this.name = 'NotDecryptedError'
  }
}

/** The current state of all objects, and the last changes, in memory. The store feeds it. */
export class State implements StateReader {
  tree = Tree.create()
  history: History
  /** Wakes readers that wait for changes. */
  readonly notifier = new Notifier()
  followers: StateFollowers = {}
  /** The epoch of the last notification. */
  #notifiedEpoch = ''
  readonly #store: Store
  readonly #reencode: Reencode | undefined
  readonly #historyBytesMax: number
  readonly #options: StateOptions
  readonly #past = new TurnBudget(limits.pastBytesPerTurn)
  #making: Promise<unknown> = Promise.resolve()
  readonly #room: Room = { interner: new Interner(), slabs: new Slabs() }
  #isTidying = false
  readonly #closing = new AbortController()
  /** Objects that expire and that no follower knows yet. */
  #expiring: StoredObject[] = []
  /** Unreadable objects with their location and the reason. Lists omit them; only an explicit deletion removes them. */
  readonly unreadable = new Map<string, { readonly revision: Revision; readonly problem: string }>()
  /** While this is set, the state is being reloaded and is incomplete. */
  loading: Promise<void> | undefined
  #detachReplaced: (() => void) | undefined
  readonly #writes = new RecentWrites(limits.rememberedWritesMax)
  readonly #detach: () => void
  /** Bytes of all objects. */
  bytes = 0
  revision: Revision
  epoch: string
  compacted: Revision

  private constructor(options: StateOptions) {
    const { store, reencode, historyBytesMax } = options
    this.#options = options
    this.#store = store
    this.#reencode = reencode
    this.#historyBytesMax = historyBytesMax
    const { revision, epoch, compacted } = store.status()
    this.revision = revision
    this.epoch = epoch
    this.compacted = compacted
    this.history = new History(revision, historyBytesMax)
    // Attached before the first read: changes during the read are applied after it.
    this.#detach = store.listen((changes) => this.#onChanges(changes))
  }

  #early: StoreChange[] | undefined = []
  /** Objects up to this revision also belong to other states. */
  #sharedUpTo: Revision = 0

  /** The state, loaded from the store. */
  static async load(options: StateOptions): Promise<State> {
    const state = new State(options)
    await state.#load()
    state.#catchUp()
    state.#detachReplaced = options.store.shared?.onReplaced(() => state.#reload())
    return state
  }

  /** Takes the state of another server's snapshot, with which the store also begins. Both share the objects without reads or copies. */
  static from({ tree, history, bytes, revision }: HeldState, options: StateOptions): State {
    const state = new State(options)
    state.tree = tree.forkForState(revision)
    state.history = history.fork()
    state.bytes = bytes
    state.#sharedUpTo = revision
    state.#catchUp()
    return state
  }

  /** The present state. Later writes do not change it. */
  hold(): HeldState {
    return { tree: this.tree.fork(), history: this.history.fork(), bytes: this.bytes, revision: this.revision }
  }

  /**
   * Edits the text of an object without a new revision, for parts that differ between servers. `edit` is called for the metadata and for the rest;
   * the length of the metadata must not change. Only allowed before the first read; the past is unchanged.
   */
  amend(key: string, edit: (text: string) => string): void {
    const object = this.tree.get(key)
    if (object === undefined) return
    const { revision, writeId, metadataEnd } = object
    const { buffer, byteOffset, length } = jsonOf(object)
    const json = Buffer.from(buffer, byteOffset, length)
    const [front, back] = [json.toString('utf8', 0, metadataEnd), json.toString('utf8', metadataEnd)]
    const [metadata, rest] = [edit(front), edit(back)]
    if (metadata === front && rest === back) return
    if (Buffer.byteLength(metadata) !== metadataEnd) throw new RangeError(`the metadata of ${key} would have another length`)
    const text = Buffer.from(metadata + rest)
    const value = toStored({ ...object, recall: undefined, bytes: text, start: 0, length: text.length }, writeId)
    const amended = toStoredObject({ key, revision, value }, this.#room)
    this.tree.set(amended)
    this.bytes += amended.length - object.length
    this.#store.amend?.(revision, toStored(amended, writeId))
    const happened = this.history.after(revision - 1, 1)[0]
    if (happened?.after === object) {
      this.history.replace({
        ...happened,
        after: amended,
        change: toChange({ ...happened.change, key, writeId, replaces: 0 }, amended, happened.before),
      })
    }
  }

  /** Stops listening to the store. */
  close(): void {
    this.#closing.abort(ended)
    this.#detachReplaced?.()
    this.#detach()
  }

  /** Expiring objects that were loaded or added since the last call, before a follower existed. */
  takeExpiring(): readonly StoredObject[] {
    const taken = this.#expiring
    this.#expiring = []
    return taken
  }

  /** The revision of a recent write. */
  revisionOfWrite(writeId: string): Revision | undefined {
    return this.#writes.revisionOf(writeId)
  }

  /** Changes up to this revision are forgotten. */
  forget(upTo: Revision): void {
    this.compacted = Math.max(this.compacted, upTo)
    this.history.forget(Math.min(upTo, this.revision))
  }

  async changesAfter(after: Revision): Promise<ChangesRead> {
    if (after < this.compacted) return { kind: 'expired' }
    if (after >= this.history.floor) {
      const happened = this.history.after(after, limits.changesPerPart)
      return { kind: 'changes', changes: happened.map(({ change }) => change), upTo: happened.at(-1)?.change.revision ?? this.revision }
    }
    const upToMost = this.revision
    const read = await this.#unlessForgotten(after, this.#store.history(after, limits.changesPerPart))
    if (read === undefined || read.kind === 'compacted') return { kind: 'expired' }
    const changes = await this.#unlessForgotten(after, this.#changesOf(read.changes))
    if (changes === undefined) return { kind: 'expired' }
    return { kind: 'changes', changes, upTo: changes.at(-1)?.revision ?? upToMost }
  }

  /** Reads the past after a revision; undefined if it was forgotten meanwhile and a part may be missing. */
  async #unlessForgotten<T>(after: Revision, reading: Promise<T>): Promise<T | undefined> {
    try {
      const read = await reading
      return after < this.compacted ? undefined : read
    } catch (error) {
      const isGone = error instanceof StatusError && error.code === 410
      if (isGone || after < this.compacted) return undefined
      throw error
    }
  }

  /** The number of these changes in one part: at least one, and only one if they are large. */
  async #changesOf(read: readonly StoreChange[]): Promise<Change[]> {
    const changes: Change[] = []
    let bytes = 0
    for (let first = 0; first < read.length && bytes < limits.pastBytesPerPart; first += limits.pastChangesAtOnce) {
      const some = await Promise.all(read.slice(first, first + limits.pastChangesAtOnce).map((change) => this.#changeOf(change)))
      for (const change of some) bytes += (change.after?.value.length ?? 0) + (change.before?.value?.length ?? 0)
      changes.push(...some)
    }
    return changes
  }

  toObject(key: string, revision: Revision, stored: Uint8Array): StoredObject {
    return toStoredObject({ key, revision, value: this.#reencoded(key, stored) }, this.#room)
  }

  /** The value in the present format and schema. */
  #reencoded(key: string, stored: Uint8Array): Uint8Array {
    const reencode = this.#reencode
    return reencode === undefined || reencode.isCurrent(key, stored) ? stored : reencode.convert(key, stored)
  }

  /** The object of a stored value; undefined if the value cannot be decoded and is set aside. */
  #decoded(record: ShownRecord): StoredObject | undefined {
    const { key, revision } = record
    try {
      return this.#unread(record) ?? this.toObject(key, revision, record.value)
    } catch (cause) {
      if (cause instanceof DamagedStoreError) throw cause
      // At the start the configuration is wrong, not the value.
      if (cause instanceof TransformedValueError && this.#early !== undefined) throw new NotDecryptedError(key, { cause })
      const why = cause instanceof Error ? cause.message : String(cause)
      this.#setAside({ key, revision }, new Error(`${key} cannot be decoded: ${why}`, { cause }))
      return undefined
    }
  }

  /** An object that is read at its first use; undefined if the value must be read now. */
  #unread({ key, revision, front }: ShownRecord): StoredObject | undefined {
    const { recall } = this.#store
    if (front === undefined || recall === undefined) return undefined
    // The store would not return an object that was encoded again.
    if (this.#reencode?.isCurrent(key, front.bytes) === false) return undefined
    return toUnreadObject({ key, revision, front }, this.#room, recall)
  }

  #setAside({ key, revision }: Pick<StoreRecord, 'key' | 'revision'>, error: Error): void {
    this.unreadable.set(key, { revision, problem: error.message })
    this.#options.onError?.(error, 'reading an object')
  }

  async #load(): Promise<void> {
    const { tree } = this
    const unread: Pick<StoredObject, 'key' | 'revision'>[] = []
    await this.#store.visit((record) => {
      // Another reload may have begun meanwhile.
      if (tree !== this.tree) return
      const { key, revision, problem } = record
      if (problem !== undefined) return this.#setAside(record, new Error(problem))
      const object = this.#decoded(record)
      if (object === undefined) return
      tree.set(object)
      this.bytes += object.length
      if (object.expiresAtMs !== 0) this.#expiring.push(object)
      if (!isRead(object)) unread.push({ key, revision })
    })
    this.#room.slabs.allocated = 0
    if (unread.length > 0) void this.#check(unread)
  }

  /** Lets the store read the values that the start skipped, some at a time, to find damage before the first request for them. */
  async #check(unread: readonly Pick<StoredObject, 'key' | 'revision'>[]): Promise<void> {
    const { clock, onError } = this.#options
    const { signal } = this.#closing
    let bytes = 0
    await sleep(clock, limits.unreadCheckDelayMs, signal, { background: true })
    for (const { key, revision } of unread) {
      if (bytes >= limits.unreadBytesPerCheck) {
        bytes = 0
        await sleep(clock, limits.unreadCheckIntervalMs, signal, { background: true })
      }
      if (signal.aborted) return
      const object = this.tree.get(key)
      if (object?.revision !== revision || isRead(object)) continue
      bytes += object.length
      try {
        object.recall?.(key, revision)
      } catch (error) {
        onError?.(error, 'checking an object')
      }
    }
  }

  #onChanges(changes: readonly StoreChange[]): void {
    if (this.#early !== undefined) {
      this.#early.push(...changes)
      return
    }
    const nowMs = this.#options.clock.now()
    const happened = this.notifier.isSilent ? this.#restore(changes) : changes.map((change) => this.#happen(change, nowMs))
    if (changes.length === 0 || this.#store.shared !== undefined) this.#follow()
    const { onExpiring, onSuperseded } = this.followers
    for (const { before, after, change } of happened) {
      if (after !== undefined && after.expiresAtMs !== 0) {
        if (onExpiring === undefined) this.#expiring.push(after)
        else onExpiring(after)
      }
      if (before !== undefined) onSuperseded?.(before, change.revision)
    }
    // Any change must wake a reader that waits in an ended epoch.
    if (happened.length === 0 || this.epoch !== this.#notifiedEpoch) this.notifier.notifyAll()
    else this.notifier.notify(changes)
    this.#notifiedEpoch = this.epoch
    this.followers.onChanged?.()
    if (this.#room.slabs.allocated > Math.max(limits.tidyAtLeastBytes, this.bytes)) this.#tidy()
  }

  #catchUp(): void {
    const early = this.#early ?? []
    this.#early = undefined
    this.#onChanges(early)
  }

  /** The revision of a shared store may be above its last change, because other processes renew epochs and compact. */
  #follow(): void {
    const { revision, epoch, compacted } = this.#store.status()
    this.revision = revision
    this.epoch = epoch
    if (compacted <= this.compacted) return
    this.forget(compacted)
    this.followers.onForgotten?.()
  }

  /** Restarts: earlier streams end because the epoch has changed or the past was removed. */
  #reload(): void {
    const { revision, epoch, compacted } = this.#store.status()
    this.#early = []
    this.tree = Tree.create()
    this.history = new History(revision, this.#historyBytesMax)
    this.bytes = 0
    this.revision = revision
    this.epoch = epoch
    this.compacted = compacted
    this.#writes.clear()
    this.#expiring = []
    this.unreadable.clear()
    const loading = this.#load().then(
      () => {
        if (this.loading !== loading) return
        this.loading = undefined
        this.#catchUp()
        this.followers.onReloaded?.()
      },
      async (error: unknown) => {
        this.#options.onError?.(error, 'reading the state anew')
        await sleep(this.#options.clock, limits.reloadDelayMs)
        if (this.loading === loading && !this.#closing.signal.aborted) this.#reload()
      },
    )
    this.loading = loading
    this.followers.onForgotten?.()
    this.notifier.notifyAll()
    this.#notifiedEpoch = this.epoch
  }

  /** Joins leaves, a few per turn: current objects leave the slabs, which are then freed. */
  #tidy(): void {
    if (this.#isTidying) return
    this.#isTidying = true
    this.#room.slabs.allocated = 0
    const pieces = joinedPieces(this.tree.forkForReading())
    const step = () => {
      for (let count = 0; count < limits.piecesTidiedPerTurn; count++) {
        if (pieces.next().done === true || this.#closing.signal.aborted) {
          this.#isTidying = false
          return
        }
      }
      setImmediate(step)
    }
    setImmediate(step)
  }

  #happen(stored: StoreChange, nowMs: number): Happened {
    const { before, after } = this.#apply(stored)
    if (before !== undefined && before.revision > this.#sharedUpTo) detach(before, this.#room.slabs)
    const happened = { change: toChange(stored, after, before, nowMs), before, after }
    this.history.bytesMax = Math.min(this.#historyBytesMax, Math.max(limits.historyBytesMin, this.bytes * limits.historyPart))
    this.history.push(happened)
    return happened
  }

  /** Applies the changes of a restore, which ends all streams. A stream that reads in the meantime reads them from the store. */
  #restore(changes: readonly StoreChange[]): Applied[] {
    const applied = changes.map((change) => this.#apply(change))
    // A snapshot may have a replaced object, which the store can no longer return.
    if (this.#store.recall !== undefined) for (const { before } of applied) if (before !== undefined) read(before)
    this.history.forget(this.revision)
    return applied
  }

  #apply(change: StoreChange): Applied {
    const { key, revision, value, writeId } = change
    this.unreadable.delete(key)
    const after = value === undefined ? undefined : this.#decoded({ key, revision, value })
    const before = after === undefined ? this.tree.delete(key) : this.tree.set(after)
    this.bytes += (after?.length ?? 0) - (before?.length ?? 0)
    this.revision = revision
    this.#writes.remember(writeId, revision)
    return { change, before, after }
  }

  async #changeOf(change: StoreChange): Promise<Change> {
    const { key, revision, replaces } = change
    const after = await this.#pastObject(key, revision, () => change.value)
    const record = replaces === 0 ? undefined : await this.#store.recordAt(key, replaces)
    return toChange(change, after, await this.#pastObject(key, replaces, () => record?.value))
  }

  /** Reconstructs past objects one after the other for all readers, within the budget of the event loop's turn. */
  #pastObject(key: string, revision: Revision, value: () => Uint8Array | undefined): Promise<StoredObject | undefined> {
    const made = this.#making.then(async () => {
      const room = this.#past.take(1)
      if (room !== undefined) await room
      const stored = value()
      if (stored === undefined) return undefined
      this.#past.spend(stored.length)
      try {
        return this.toObject(key, revision, stored)
      } catch {
        // A past object that cannot be decoded counts as deleted. For a current one, the error was already reported.
        return undefined
      }
    })
    this.#making = made.catch(() => {})
    return made
  }
}

/** Joins, step by step, all leaves of a tree in memory. */
function* joinedPieces(tree: Tree): Generator<Piece, void, undefined> {
  // Unread objects are in no slab, and the JSON of their neighbours stays in place.
  for (const run of tree.walk('', '\uffff')) if (run.objects.every(isRead)) yield* run.join()
}
