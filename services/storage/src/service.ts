import { randomUUID } from 'node:crypto'
import {
  badRequest,
  type CallContext,
  type ChangesRequest,
  type CommitOutcome,
  type CommitRequest,
  commitConditionsMax,
  decodeStored,
  type Entry,
  expired,
  type Freshness,
  type GetRequest,
  type GetResponse,
  internal,
  type ListPart,
  type ListRequest,
  type Profile,
  type Revision,
  type StorageService,
  type StorageStatus,
  type Store,
  type StoreOutcome,
  scopePrefix,
  timeout,
  tooLargeResourceVersion,
} from '@orch/core'
import { type Clock, systemClock } from '@orch/platform'
import { Bell, streamChanges } from './changes.ts'
import { Expiry } from './expiry.ts'
import { historyBytesMax, pastBytesMax, pastOverheadBytes, positionIntervalMs, revisionWaitMs, watchHistoryMsDefault } from './limits.ts'
import { listStore, listTree } from './list.ts'
import type { Happened } from './memory/history.ts'
import { type StoredObject, toEntry, toStored } from './memory/stored-object.ts'
import type { Tree } from './memory/tree.ts'
import { PastBudget } from './past-budget.ts'
import { type Reencode, State } from './state.ts'
import { toStream } from './streams.ts'
import { Window } from './window.ts'

/** What the storage service is made from. */
export interface StorageOptions {
  /** Its owner closes it, after the service. */
  readonly store: Store
  readonly clock?: Clock
  readonly reencode?: Reencode
  /** Whose names stand in the objects; default: our own. */
  readonly profile?: Profile
  /** How long changes are kept. */
  readonly watchHistoryMs?: number
  readonly historyBytesMax?: number
  /** Bytes of superseded objects that a store without a disk may hold. */
  readonly pastBytesMax?: number
  readonly randomId?: () => string
  /** Told of failures that no caller hears of. */
  readonly onError?: (error: unknown, what: string) => void
}

/** The state of a moment, for `restore`. It stays valid as long as the service lives. */
export interface StateSnapshot {
  readonly revision: Revision
}

/** The storage service and what only the process that holds it may do. */
export interface Storage extends StorageService {
  /** The state as it is now. */
  snapshot(): StateSnapshot
  /**
   * Makes the state what it was: as new writes, so that revisions go on; objects keep their uids and get new versions.
   * Streams of changes end with `expired`, and tokens and revisions from before are refused.
   */
  restore(snapshot: StateSnapshot): Promise<void>
  /** Forgets changes up to a revision, as the window does. */
  compact(revision: Revision): Promise<void>
  /** Pages of the store that can be used again, and the size of its memory, for metrics. */
  sizes(): { readonly objectBytes: number; readonly historyBytes: number; readonly storeBytes: number; readonly storeFreeBytes: number }
  /** Ends all streams and timers. */
  close(): void
}

/** Storage over a store: loads the state into memory and serves it. */
export async function createStorage(options: StorageOptions): Promise<Storage> {
  const service = new StorageOverStore(options)
  await service.open()
  return service
}

class HeldSnapshot implements StateSnapshot {
  readonly tree: Tree
  readonly revision: Revision

  constructor(tree: Tree, revision: Revision) {
    this.tree = tree
    this.revision = revision
  }
}

const pageExpired =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, ' +
  'or use the continue token in this response to retrieve the remainder of the results.'
const exactExpired = 'The resourceVersion for the provided list is too old.'

class StorageOverStore implements Storage {
  readonly #store: Store
  readonly #clock: Clock
  readonly #options: StorageOptions
  readonly #randomId: () => string
  readonly #bell = new Bell()
  readonly #expiry: Expiry
  readonly #closing = new AbortController()
  /** Outcomes of commits under way, by write id. */
  readonly #committing = new Map<string, Promise<CommitOutcome>>()
  #state!: State
  #window!: Window
  /** Of a store that has no disk. */
  #past: PastBudget | undefined
  #ticker: { cancel(): void } | undefined
  /** While it is there, commits wait for it. */
  #restoring: Promise<void> | undefined

  constructor(options: StorageOptions) {
    this.#options = options
    this.#store = options.store
    this.#clock = options.clock ?? systemClock
    this.#randomId = options.randomId ?? randomUUID
    this.#expiry = new Expiry({
      clock: this.#clock,
      remove: ({ key, revision }) => this.#commit({ key, expected: revision, conditions: [], writeId: this.#randomId() }),
    })
  }

  async open(): Promise<void> {
    const { reencode, historyBytesMax: bytesMax = historyBytesMax, watchHistoryMs = watchHistoryMsDefault } = this.#options
    const state = await State.load({ store: this.#store, reencode, historyBytesMax: bytesMax }, (happened) => this.#onApplied(happened))
    this.#state = state
    for (const { objects, from, to } of state.tree.walk('', '\uffff'))
      for (let index = from; index < to; index++) this.#expiry.add(objects[index]!)
    this.#window = new Window({
      clock: this.#clock,
      historyMs: watchHistoryMs,
      revision: () => state.revision,
      compact: (upTo) => this.#compactSoon(upTo),
    })
    const { pastBytesMax: pastMax = pastBytesMax } = this.#options
    if (this.#store.adopt !== undefined) this.#past = new PastBudget({ bytesMax: pastMax, revision: state.revision })
    this.#ticker = this.#clock.every(positionIntervalMs, () => this.#bell.tick())
  }

  get = async ({ key, read }: GetRequest): Promise<GetResponse> => {
    if (read.kind === 'exact' || read.kind === 'page') {
      const revision = await this.#reach(read)
      const object = await this.#objectAt(key, revision)
      return { revision, epoch: this.#state.epoch, ...(object === undefined ? {} : { entry: toEntry(object) }) }
    }
    if (read.kind === 'notOlderThan') await this.#waitFor(read.revision, read.asked)
    const { tree, revision, epoch } = this.#state
    const object = tree.get(key)
    return object === undefined ? { revision, epoch } : { entry: toEntry(object), revision, epoch }
  }

  list = (request: ListRequest, context?: CallContext) => {
    // The state is taken hold of now, not when the first part is asked for.
    const read = request.read.kind
    const attached = read === 'latest' || read === 'any' ? listTree(request, this.#now()) : undefined
    return toStream<ListPart>(() => this.#list(request, attached), context?.signal)
  }

  commit = async (request: CommitRequest, context?: CallContext): Promise<CommitOutcome> => {
    const { timeoutMs } = context ?? {}
    const deadlineMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : this.#clock.monotonic() + timeoutMs
    while (this.#restoring !== undefined) await this.#restoring
    return this.#commit(request, () => this.#clock.monotonic() > deadlineMs || context?.signal?.aborted === true)
  }

  changes = (request: ChangesRequest, context?: CallContext) => {
    const signals = [this.#closing.signal, ...(context?.signal === undefined ? [] : [context.signal])]
    return toStream(
      (signal) => streamChanges(request, this.#state, this.#bell, signal),
      AbortSignal.any(signals as globalThis.AbortSignal[]),
    )
  }

  getAt = async ({
    key,
    revision,
  }: {
    readonly key: string
    readonly revision: Revision
  }): Promise<{ readonly entry?: Entry | undefined }> => {
    const object = await this.#objectAt(key, revision)
    return object === undefined ? {} : { entry: toEntry(object) }
  }

  status = async (): Promise<StorageStatus> => {
    const { epoch, revision, compacted, tree, bytes } = this.#state
    return { epoch, revision, compacted, refusing: this.#store.status().refusing, entries: tree.size, bytes, profile: this.#options.profile ?? 'orch' }
  }

  snapshot(): StateSnapshot {
    return new HeldSnapshot(this.#state.tree.fork(), this.#state.revision)
  }

  async restore(snapshot: StateSnapshot): Promise<void> {
    if (!(snapshot instanceof HeldSnapshot)) throw new TypeError('restore wants what snapshot() gave')
    while (this.#restoring !== undefined) await this.#restoring
    const restoring = this.#restore(snapshot.tree)
    this.#restoring = restoring.catch(() => {})
    try {
      await restoring
    } finally {
      this.#restoring = undefined
    }
  }

  async compact(revision: Revision): Promise<void> {
    // Readers are refused first: what is being swept may not be read half gone.
    this.#state.forget(Math.min(revision, this.#state.revision))
    await this.#store.compact(revision)
  }

  sizes(): ReturnType<Storage['sizes']> {
    const { bytes: storeBytes, freeBytes: storeFreeBytes } = this.#store.status()
    return { objectBytes: this.#state.bytes, historyBytes: this.#state.history.bytes, storeBytes, storeFreeBytes }
  }

  close(): void {
    this.#window.close()
    this.#expiry.close()
    this.#ticker?.cancel()
    this.#closing.abort()
    this.#state.close()
  }

  #now() {
    const { tree, revision, epoch } = this.#state
    return { tree: tree.forkForReading(), revision, epoch }
  }

  async *#list(request: ListRequest, attached: ReturnType<typeof listTree> | undefined): AsyncGenerator<ListPart, void, undefined> {
    const { head, parts } = attached ?? (await this.#listLater(request))
    yield head
    yield* parts()
  }

  async #listLater(request: ListRequest): Promise<ReturnType<typeof listTree>> {
    const { read } = request
    if (read.kind === 'notOlderThan') await this.#waitFor(read.revision, read.asked)
    if (read.kind !== 'exact' && read.kind !== 'page') return listTree(request, this.#now())
    const revision = await this.#reach(read)
    const state = this.#state
    if (revision === state.revision) return listTree(request, this.#now())
    if (revision < state.history.floor) {
      const { epoch } = state
      return listStore(request, { store: this.#store, revision, epoch, toObject: (...object) => state.toObject(...object) })
    }
    const tree = state.tree.fork()
    state.history.undo(tree, scopePrefix(request.scope), revision)
    return listTree(request, { tree, revision, epoch: state.epoch })
  }

  /** Waits until the revision of an exact read has come; refuses one that is gone. */
  async #reach(read: Extract<Freshness, { kind: 'exact' | 'page' }>): Promise<Revision> {
    if (read.kind === 'page' && read.epoch !== this.#state.epoch) throw expired(pageExpired)
    await this.#waitFor(read.revision, read.kind === 'exact' ? read.asked : String(read.revision))
    if (read.revision < this.#state.compacted) throw expired(read.kind === 'page' ? pageExpired : exactExpired)
    return read.revision
  }

  async #waitFor(revision: Revision, asked: string): Promise<void> {
    if (revision <= this.#state.revision) return
    const ending = new AbortController()
    const timer = this.#clock.after(revisionWaitMs, () => ending.abort())
    const giveUp = () => ending.abort()
    this.#closing.signal.addEventListener('abort', giveUp, { once: true })
    while (revision > this.#state.revision && !ending.signal.aborted) await this.#bell.wait(ending.signal)
    timer.cancel()
    this.#closing.signal.removeEventListener('abort', giveUp)
    if (revision > this.#state.revision) throw tooLargeResourceVersion(asked, this.#state.revision)
  }

  async #objectAt(key: string, revision: Revision): Promise<StoredObject | undefined> {
    const state = this.#state
    if (revision < state.compacted) throw expired(exactExpired)
    if (revision >= state.history.floor) {
      const before = state.history.objectBefore(key, revision)
      return before === 'unchanged' ? state.tree.get(key) : before
    }
    const record = await this.#store.getAt(key, revision)
    return record === undefined ? undefined : state.toObject(key, record.revision, record.value)
  }

  /** A write id that is under way or known as done gives the first outcome. */
  #commit(request: CommitRequest, isLate?: () => boolean): Promise<CommitOutcome> {
    const { writeId, conditions } = request
    if (conditions.length > commitConditionsMax)
      return Promise.reject(badRequest(`a commit may carry ${commitConditionsMax} conditions, not ${conditions.length}`))
    const again = this.#committing.get(writeId) ?? this.#doneBefore(request)
    if (again !== undefined) return again
    if (request.value !== undefined) {
      try {
        decodeStored(request.value)
      } catch (cause) {
        return Promise.reject(internal('the value of a commit is no stored value', { cause }))
      }
    }
    const outcome = this.#store.commit({ ...request, isLate }).then((decided) => this.#toOutcome(request, decided))
    this.#committing.set(writeId, outcome)
    const forget = () => void this.#committing.delete(writeId)
    outcome.then(forget, forget)
    return outcome
  }

  #doneBefore({ key, writeId }: CommitRequest): Promise<CommitOutcome> | undefined {
    const object = this.#state.tree.get(key)
    const revision = this.#state.revisionOfWrite(writeId) ?? (object?.writeId === writeId ? object.revision : undefined)
    return revision === undefined ? undefined : Promise.resolve({ kind: 'written', revision })
  }

  #toOutcome({ key }: CommitRequest, decided: StoreOutcome): CommitOutcome {
    switch (decided.kind) {
      case 'written':
      case 'unmet':
        return decided
      case 'stale': {
        const current = this.#state.tree.get(key)
        return current === undefined ? { kind: 'stale' } : { kind: 'stale', current: toEntry(current) }
      }
      case 'late':
        throw timeout('the request was not completed in time, nothing was written')
    }
  }

  #compactSoon(upTo: Revision): void {
    this.compact(upTo).catch((error: unknown) => this.#options.onError?.(error, 'compaction'))
  }

  #onApplied(happened: readonly Happened[]): void {
    for (const { before, after, change } of happened) {
      if (after !== undefined) this.#expiry.add(after)
      if (before === undefined) continue
      const forgotten = this.#past?.add(before.length + pastOverheadBytes, change.revision)
      if (forgotten !== undefined) this.#compactSoon(forgotten)
    }
    this.#bell.ring()
  }

  async #restore(target: Tree): Promise<void> {
    // Commits that were asked before it are part of what it undoes.
    await Promise.allSettled(this.#committing.values())
    const current = this.#state.tree.fork()
    const writes: Promise<CommitOutcome>[] = []
    for (const object of objectsOf(current)) {
      if (target.get(object.key) === undefined) writes.push(this.#rewrite(object.key, undefined))
    }
    for (const object of objectsOf(target)) {
      const now = current.get(object.key)
      if (now === undefined || now.revision !== object.revision) writes.push(this.#rewrite(object.key, object))
    }
    await Promise.all(writes)
    this.#state.epoch = await this.#store.renewEpoch()
    await this.compact(this.#state.revision)
    this.#bell.ring()
  }

  /** Writes an object, or its absence, over whatever is there: a commit from before the restore may still be under way. */
  async #rewrite(key: string, object: StoredObject | undefined): Promise<CommitOutcome> {
    for (;;) {
      const expected = this.#state.tree.get(key)?.revision ?? 0
      if (object === undefined && expected === 0) return { kind: 'written', revision: this.#state.revision }
      const writeId = this.#randomId()
      const value = object === undefined ? undefined : toStored(object, writeId)
      const outcome = await this.#commit({ key, expected, conditions: [], writeId, value })
      if (outcome.kind === 'written') return outcome
    }
  }
}

function* objectsOf(tree: Tree): Generator<StoredObject, void, undefined> {
  for (const { objects, from, to } of tree.walk('', '\uffff')) for (let index = from; index < to; index++) yield objects[index]!
}
