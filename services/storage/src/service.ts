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
  serviceUnavailable,
  timeout,
  tooLargeResourceVersion,
} from '@orch/core'
import { type Clock, systemClock } from '@orch/platform'
import { compareWithStore } from './audit.ts'
import { Bell, streamChanges } from './changes.ts'
import { Expiry } from './expiry.ts'
import { type Leadership, soleLeadership } from './leadership.ts'
import {
  auditDelayMs,
  behindPatienceMs,
  historyBytesMax,
  pastBytesMax,
  pastOverheadBytes,
  positionIntervalMs,
  revisionWaitMs,
  unavailableRetrySeconds,
  watchHistoryMsDefault,
} from './limits.ts'
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
  /** Of the replicas that share the store; only the leader compacts and expires. */
  readonly leadership?: Leadership
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
  /** How many objects there are, by the storage prefix of their resource. */
  objectCounts(): ReadonlyMap<string, number>
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
const readAnew = () => serviceUnavailable('the state is being read anew', { retryAfterSeconds: unavailableRetrySeconds })
const exactExpired = 'The resourceVersion for the provided list is too old.'

class StorageOverStore implements Storage {
  readonly #store: Store
  readonly #clock: Clock
  readonly #options: StorageOptions
  readonly #randomId: () => string
  readonly #leadership: Leadership
  readonly #bell = new Bell()
  /** Epoch in which the bell was rung last. */
  #rungEpoch = ''
  readonly #expiry: Expiry
  readonly #closing = new AbortController()
  /** Outcomes of commits under way, by write id. */
  readonly #committing = new Map<string, Promise<CommitOutcome>>()
  #state!: State
  #window!: Window
  /** Of a store that has no disk. */
  #past: PastBudget | undefined
  #ticker: { cancel(): void } | undefined
  /** The compaction after which memory was compared with the store last, or is about to be. */
  #audited: Revision = 0
  #auditTimer: { cancel(): void } | undefined
  /** While it is there, commits wait for it. */
  #restoring: Promise<void> | undefined

  constructor(options: StorageOptions) {
    this.#options = options
    this.#store = options.store
    this.#clock = options.clock ?? systemClock
    this.#randomId = options.randomId ?? randomUUID
    this.#leadership = options.leadership ?? soleLeadership
    this.#expiry = new Expiry({
      clock: this.#clock,
      remove: (due) => this.#expire(due),
    })
  }

  async open(): Promise<void> {
    const { reencode, historyBytesMax: bytesMax = historyBytesMax, watchHistoryMs = watchHistoryMsDefault } = this.#options
    const parts = { store: this.#store, reencode, historyBytesMax: bytesMax, clock: this.#clock, onError: this.#options.onError }
    const onReloaded = () => this.#expireAll()
    const state = await State.load({ ...parts, onReloaded }, (happened) => this.#onApplied(happened))
    this.#state = state
    this.#expireAll()
    this.#audited = state.compacted
    this.#window = new Window({
      clock: this.#clock,
      historyMs: watchHistoryMs,
      revision: () => state.revision,
      compact: (upTo) => {
        if (this.#leadership.isLeader) this.#compactSoon(upTo)
      },
    })
    const { pastBytesMax: pastMax = pastBytesMax } = this.#options
    if (this.#store.adopt !== undefined) this.#past = new PastBudget({ bytesMax: pastMax, revision: state.revision })
    this.#ticker = this.#clock.every(positionIntervalMs, () => this.#bell.tick(state.revision))
  }

  get = async ({ key, read }: GetRequest): Promise<GetResponse> => {
    const at = await this.#revisionFor(read)
    if (at !== undefined) {
      const object = await this.#objectAt(key, at)
      return { revision: at, epoch: this.#state.epoch, ...(object === undefined ? {} : { entry: toEntry(object) }) }
    }
    const { tree, revision, epoch } = this.#state
    const object = tree.get(key)
    return object === undefined ? { revision, epoch } : { entry: toEntry(object), revision, epoch }
  }

  list = (request: ListRequest, context?: CallContext) => {
    // The state is taken hold of now, not when the first part is asked for.
    const read = request.read.kind
    const isHere = (read === 'latest' && this.#store.shared === undefined) || (read === 'any' && this.#state.loading === undefined)
    const attached = isHere ? listTree(request, this.#now()) : undefined
    return toStream<ListPart>(() => this.#list(request, attached), context?.signal)
  }

  commit = async (request: CommitRequest, context?: CallContext): Promise<CommitOutcome> => {
    const { timeoutMs } = context ?? {}
    const deadlineMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : this.#clock.monotonic() + timeoutMs
    while (this.#restoring !== undefined) await this.#restoring
    return this.#commit(request, () => this.#clock.monotonic() > deadlineMs || context?.signal?.aborted === true, context?.traceparent)
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
    // While memory is read anew it lacks what is there.
    await this.#loaded()
    const object = await this.#objectAt(key, revision)
    return object === undefined ? {} : { entry: toEntry(object) }
  }

  status = async (): Promise<StorageStatus> => {
    const { epoch, revision, compacted, tree, bytes } = this.#state
    return {
      epoch,
      revision,
      compacted,
      refusing: this.#store.status().refusing,
      entries: tree.size,
      bytes,
      profile: this.#options.profile ?? 'orch',
    }
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
    // Readers are refused first: what is being swept may not be read half gone. A shared store tells all its replicas, this one too.
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
      const { key } = tree.at(from) as StoredObject
      const [group = '', plural] = key.split('/', 3)
      const prefix = plural === undefined ? group : `${group}/${plural}`
      // What begins with the prefix and a slash ends before the character behind the slash.
      const end = Math.max(from + 1, tree.rank(`${prefix}0`))
      counts.set(prefix, (counts.get(prefix) ?? 0) + end - from)
      from = end
    }
    return counts
  }

  close(): void {
    this.#window.close()
    this.#expiry.close()
    this.#ticker?.cancel()
    this.#auditTimer?.cancel()
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
    const revision = await this.#revisionFor(request.read)
    const state = this.#state
    if (revision === undefined || revision === state.revision) return listTree(request, this.#now())
    if (revision < state.history.floor || revision > state.revision) {
      const { epoch } = state
      return listStore(request, { store: this.#store, revision, epoch, toObject: (...object) => state.toObject(...object) })
    }
    const tree = state.tree.fork()
    state.history.undo(tree, scopePrefix(request.scope), revision)
    return listTree(request, { tree, revision, epoch: state.epoch })
  }

  /** What a read wants to be answered at, once it can be; undefined: memory as it then is. */
  async #revisionFor(read: Freshness): Promise<Revision | undefined> {
    await this.#loaded()
    switch (read.kind) {
      case 'any':
        return undefined
      case 'latest':
        return this.#reachLatest()
      case 'notOlderThan':
        return this.#reach(read.revision, read.asked)
      case 'exact':
      case 'page':
        if (read.kind === 'page' && read.epoch !== this.#state.epoch) throw expired(pageExpired)
        await this.#reach(read.revision, read.kind === 'exact' ? read.asked : String(read.revision))
        if (read.revision < this.#state.compacted) throw expired(read.kind === 'page' ? pageExpired : exactExpired)
        return read.revision
    }
  }

  /** Where others write to the store, memory may be behind: then it is waited for, or the store itself is read. */
  async #reachLatest(): Promise<Revision | undefined> {
    const { shared } = this.#store
    if (shared === undefined) return undefined
    const latest = await shared.latest()
    if (await this.#hasCome(latest, behindPatienceMs)) return undefined
    if (!shared.askPosition()) return latest
    if (await this.#hasCome(latest, revisionWaitMs)) return undefined
    throw timeout(`the state of revision ${latest} has not come yet, only that of ${this.#state.revision}`)
  }

  /** Waits for a revision; undefined where memory has it, else the later one that the store is to be read at. */
  async #reach(revision: Revision, asked: string): Promise<Revision | undefined> {
    const { shared } = this.#store
    if (shared !== undefined && !(await this.#hasCome(revision, behindPatienceMs)) && !shared.askPosition()) {
      const latest = await shared.latest()
      if (latest >= revision) return latest
    }
    if (await this.#hasCome(revision, revisionWaitMs)) return undefined
    throw tooLargeResourceVersion(asked, this.#state.revision)
  }

  /** Waits until memory stands at a revision, so long at most. */
  async #hasCome(revision: Revision, waitMs: number): Promise<boolean> {
    if (revision <= this.#state.revision) return true
    const ending = new AbortController()
    const giveUp = () => ending.abort()
    const timer = this.#clock.after(waitMs, giveUp)
    this.#closing.signal.addEventListener('abort', giveUp, { once: true })
    while (revision > this.#state.revision && !ending.signal.aborted) await this.#bell.waitUntil(ending.signal)
    timer.cancel()
    this.#closing.signal.removeEventListener('abort', giveUp)
    return revision <= this.#state.revision
  }

  /** Nothing is read while the state is being read anew. */
  async #loaded(): Promise<void> {
    if (this.#state.loading === undefined) return
    const ending = new AbortController()
    const timer = this.#clock.after(revisionWaitMs, () => ending.abort())
    while (this.#state.loading !== undefined && !ending.signal.aborted) await this.#bell.waitUntil(ending.signal)
    timer.cancel()
    if (this.#state.loading !== undefined) throw readAnew()
  }

  /** Where the store may lose changes when it forgets its past, memory is compared with it after each time. */
  #auditSoon(): void {
    const { compacted } = this.#state
    if (this.#store.shared?.mayLoseChanges !== true || compacted <= this.#audited) return
    this.#audited = compacted
    this.#auditTimer?.cancel()
    this.#auditTimer = this.#clock.after(auditDelayMs, () => {
      this.#audit().catch((error: unknown) => this.#options.onError?.(error, 'comparing memory with the store'))
    })
  }

  /** What memory missed is written once more, so that everybody hears of it as a change. */
  async #audit(): Promise<void> {
    const { shared } = this.#store
    const state = this.#state
    if (shared === undefined || state.loading !== undefined) return
    const { changed, gone } = await compareWithStore(state.tree, shared)
    for (const { key, revision } of changed) {
      const record = await this.#store.getAt(key, state.revision)
      if (record?.revision === revision) await this.#writeAgain(state.toObject(key, revision, record.value), revision)
    }
    for (const object of gone) {
      const outcome = await this.#writeAgain(object, 0)
      if (outcome.kind === 'written')
        await this.#commit({ key: object.key, expected: outcome.revision, conditions: [], writeId: this.#randomId() })
    }
    if (changed.length + gone.length > 0)
      this.#options.onError?.(
        new Error(`${changed.length + gone.length} changes were lost on their way`),
        'comparing memory with the store',
      )
  }

  #writeAgain(object: StoredObject, expected: Revision): Promise<CommitOutcome> {
    const writeId = this.#randomId()
    return this.#commit({ key: object.key, expected, conditions: [], writeId, value: toStored(object, writeId) })
  }

  async #objectAt(key: string, revision: Revision): Promise<StoredObject | undefined> {
    const state = this.#state
    if (revision < state.compacted) throw expired(exactExpired)
    if (revision >= state.history.floor && revision <= state.revision) {
      const before = state.history.objectBefore(key, revision)
      return before === 'unchanged' ? state.tree.get(key) : before
    }
    const record = await this.#store.getAt(key, revision)
    return record === undefined ? undefined : state.toObject(key, record.revision, record.value)
  }

  /** Objects that end some day are known from now on. */
  #expireAll(): void {
    for (const object of objectsOf(this.#state.tree)) this.#expiry.add(object)
  }

  async #expire({ key, revision }: { readonly key: string; readonly revision: Revision }): Promise<void> {
    if (this.#leadership.isLeader) await this.#commit({ key, expected: revision, conditions: [], writeId: this.#randomId() })
    else if (this.#state.tree.get(key)?.revision === revision) throw new Error('another replica expires objects')
  }

  /** A write id that is under way or known as done gives the first outcome. */
  #commit(request: CommitRequest, isLate?: () => boolean, traceparent?: string): Promise<CommitOutcome> {
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
    const outcome = this.#store.commit({ ...request, isLate, traceparent }).then((decided) => this.#toOutcome(request, decided))
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
    if (decided.kind === 'stale' && this.#state.loading !== undefined) throw readAnew()
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
    this.#auditSoon()
    const { epoch } = this.#state
    // Whoever waits in an epoch that is over wants to hear of it, whatever has changed.
    if (happened.length === 0 || epoch !== this.#rungEpoch) this.#bell.ringAll()
    else this.#bell.ring(happened.map(({ change }) => change))
    this.#rungEpoch = epoch
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
    this.#bell.ringAll()
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
