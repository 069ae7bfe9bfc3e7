import type {
  Profile,
  Revision,
  SharedStore,
  Store,
  StoreChange,
  StoreCommit,
  StoreHistory,
  StoreOutcome,
  StorePage,
  StoreRange,
  StoreRecord,
  StoreStatus,
} from '@orch/core'
import { type Clock, type Log, silentLog, sleep, systemClock } from '@orch/platform'
import type { Etcd3 } from 'etcd3'
import {
  etcdCheckMs,
  etcdDeliveryWaitMs,
  etcdReconnectDelayMsMax,
  etcdReopenWaitMs,
  etcdStartWaitMs,
  etcdStatusIntervalMs,
  etcdWatchLastLookMs,
  etcdWatchPatienceMs,
} from '../limits.ts'
import { ChangeRevisions } from './chain.ts'
import { createEtcdClient, type EtcdAccess, type EtcdClient, readSurely } from './client.ts'
import { checkKey, sendCommit, type TxnOutcome, toTransaction, unknownOutcome } from './commit.ts'
import { decodeEvents } from './decode.ts'
import { sayFailure, toFailure, unavailable } from './errors.ts'
import { type EpochRecord, type Heads, parseEpoch, readHeads, writeEpoch } from './heads.ts'
import { readHistory } from './history.ts'
import { type Layout, toLayout, unframeValue } from './layout.ts'
import { type EtcdLeadership, openLeadership } from './leadership.ts'
import { EtcdReader } from './reader.ts'
import { isReliableVersion } from './version.ts'
import { type EtcdWatch, openWatch, type WatchEnd } from './watch.ts'
import type { EtcdEvent } from './wire.ts'

/** How a store on etcd is opened. */
export interface EtcdStoreOptions extends EtcdAccess {
  /** What all keys begin with; several stores may share one etcd. */
  readonly prefix: string
  readonly profile: Profile
  readonly clock?: Clock | undefined
  readonly randomId?: (() => string) | undefined
  readonly random?: (() => number) | undefined
  readonly log?: Log | undefined
  /** Name under which this replica stands for election. */
  readonly candidate?: string | undefined
  /** Longest that etcd may be away at the start. */
  readonly startWaitMs?: number | undefined
  /** Taken instead of what etcd says of itself; for tests. */
  readonly etcdVersion?: string | undefined
  /** Taken instead of a client of `servers`; for tests. The store closes it. */
  readonly client?: EtcdClient | undefined
}

/** A store on etcd, and which of its replicas leads. */
export interface EtcdStore extends Store {
  readonly shared: SharedStore
  readonly leadership: EtcdLeadership
}

/** The state was read anew since a commit was sent: its change is not shown any more, should it have happened before that. */
const overlooked = -1

interface Waiter {
  readonly revision: Revision
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Opens a store on etcd; any number of processes may have one prefix open. Waits a while for etcd to be there. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<EtcdStore> {
  const { clock = systemClock, log = silentLog, startWaitMs = etcdStartWaitMs } = options
  const layout = toLayout(options.prefix)
  const client = options.client ?? createEtcdClient(options, clock)
  const giveUpMs = clock.monotonic() + startWaitMs
  let isWaiting = false
  for (;;) {
    let store: StoreOnEtcd | undefined
    try {
      const version = options.etcdVersion ?? (await readSurely(() => client.maintenance.status())).version
      const heads = await claim(client, layout, options)
      store = new StoreOnEtcd({ ...options, clock, log, client, layout, heads, isReliable: isReliableVersion(version) })
      if (!isReliableVersion(version)) {
        log.warn(
          { version },
          'this etcd may lose events of a watch; 3.4.31, 3.5.13 or newer is better. Latest reads cost more, and memory is compared after each compaction',
        )
      }
      await store.begin()
      return store
    } catch (error) {
      if (store !== undefined || !isAway(error) || clock.monotonic() > giveUpMs) {
        await store?.close()
        client.close()
        throw error
      }
      log[isWaiting ? 'debug' : 'warn']({ err: error }, 'waiting for etcd')
      isWaiting = true
      await sleep(clock, etcdReconnectDelayMsMax)
    }
  }
}

function isAway(error: unknown): boolean {
  const failure = toFailure((error as { cause?: unknown }).cause ?? error)
  return failure === 'unsent' || failure === 'unanswered' || failure === 'late'
}

/** Reads how the store stands, and begins it where nobody has. */
async function claim(client: Etcd3, layout: Layout, { profile, randomId }: EtcdStoreOptions): Promise<Heads> {
  for (;;) {
    const heads = await readHeads(client, layout, profile)
    if (heads !== undefined) return heads
    await writeEpoch(client, layout, { epoch: (randomId ?? randomUuid)(), profile, replaces: 0 })
  }
}

const randomUuid = () => globalThis.crypto.randomUUID()

interface Parts extends EtcdStoreOptions {
  readonly clock: Clock
  readonly log: Log
  readonly client: EtcdClient
  readonly layout: Layout
  readonly heads: Heads
  readonly isReliable: boolean
}

/**
 * Everything that changes is heard of through one watch, also what this process writes: a commit is answered when its own
 * change has come back, so that whoever reads memory sees it.
 *
 *   txn → written at 17 ─────────────────────────┐
 *   watch → 15 16 17 → listeners told → position 17 → the commit's waiter is resolved
 */
class StoreOnEtcd implements EtcdStore {
  readonly shared: SharedStore
  readonly leadership: EtcdLeadership
  readonly #parts: Parts
  readonly #client: EtcdClient
  readonly #layout: Layout
  readonly #reader: EtcdReader
  readonly #listeners = new Set<(changes: readonly StoreChange[]) => void>()
  readonly #replacedListeners = new Set<() => void>()
  readonly #reachableListeners = new Set<(isReachable: boolean) => void>()
  readonly #closing = new AbortController()
  /** The last commit of each key that has one under way: commits to one key are judged as they were asked. */
  readonly #tails = new Map<string, Promise<unknown>>()
  /** Commits without an answer yet, by write id; 0 until the watch has shown the change, `overlooked` if it may have been. */
  readonly #unanswered = new Map<string, Revision>()
  #waiters: Waiter[] = []
  /** What etcd has told, by other ways than the watch, that the watch will show. */
  #expected: Revision = 0
  #isExpecting = false
  /** Who waits for the watch to be open again. */
  readonly #opened = new Set<() => void>()
  #epoch: EpochRecord
  #compacted: Revision
  #position: Revision
  #chain: ChangeRevisions
  /** The last change that was heard of, to see whether etcd still has it. */
  #lastHeard: { readonly key: string; readonly revision: Revision; readonly writeId: string; readonly isDelete: boolean } | undefined
  #watch: EtcdWatch | undefined
  #refusing = 'the watch of etcd is not open yet'
  /** Why etcd was not of use when it was last asked how it is. */
  #unreachable = ''
  #isReachable = true
  #timesOpened = 0
  #checkTimer: { cancel(): void } | undefined
  /** Why etcd itself takes no writes. */
  #alarm = ''
  #sizes = { bytes: 0, freeBytes: 0 }
  #asking: Promise<Revision> | undefined
  #askingNext: Promise<Revision> | undefined
  #statusTimer: { cancel(): void } | undefined

  constructor(parts: Parts) {
    const { client, layout, heads } = parts
    this.#parts = parts
    this.#client = client
    this.#layout = layout
    this.#reader = new EtcdReader(client, layout)
    this.#epoch = heads.epoch
    this.#compacted = heads.compacted
    this.#position = heads.position
    this.#chain = new ChangeRevisions(heads.lastChange)
    this.leadership = openLeadership({ ...parts, candidate: parts.candidate ?? (parts.randomId ?? randomUuid)() })
    this.shared = {
      latest: () => this.#latest(),
      askPosition: () => this.#askPosition(),
      onReplaced: (listener) => attach(this.#replacedListeners, listener),
      onReachable: (listener) => attach(this.#reachableListeners, listener),
      visitRevisions: async (show) => {
        const revision = this.#position
        await this.#reader.visitRevisions(revision, show)
        return revision
      },
      mayLoseChanges: !parts.isReliable,
    }
  }

  /** Follows etcd from now on. Resolves when the watch stands. */
  async begin(): Promise<void> {
    const { clock } = this.#parts
    this.#statusTimer = clock.every(etcdStatusIntervalMs, () => {
      void this.#readStatus()
      if (this.#parts.isReliable) this.#watch?.askPosition()
    })
    await this.#readStatus()
    await new Promise<void>((resolve, reject) => {
      const timer = clock.after(etcdStartWaitMs, () => reject(new Error(`the watch of etcd could not be opened: ${this.#refusing}`)))
      void this.#follow(() => {
        timer.cancel()
        resolve()
      })
    })
    this.leadership.begin()
    this.#checkLater()
  }

  commit(commit: StoreCommit): Promise<StoreOutcome> {
    const before = this.#tails.get(commit.key) ?? Promise.resolve()
    const outcome = before.then(() => this.#commit(commit))
    const settled = outcome.then(
      () => undefined,
      () => undefined,
    )
    this.#tails.set(commit.key, settled)
    void settled.then(() => {
      if (this.#tails.get(commit.key) === settled) this.#tails.delete(commit.key)
    })
    return outcome
  }

  getAt(key: string, revision: Revision): Promise<StoreRecord | undefined> {
    return this.#reader.at(key, revision)
  }

  async recordAt(key: string, revision: Revision): Promise<StoreRecord | undefined> {
    const record = await this.#reader.at(key, Math.max(revision, this.#compacted))
    return record?.revision === revision ? record : undefined
  }

  count(range: Omit<StoreRange, 'limit'>): Promise<number> {
    return this.#reader.count(range)
  }

  range(range: StoreRange): Promise<StorePage> {
    return this.#reader.range(range)
  }

  visit(show: (record: StoreRecord) => void): Promise<void> {
    return this.#reader.visit(this.#position, show)
  }

  async history(after: Revision, limit: number): Promise<StoreHistory> {
    if (after < this.#compacted) return { kind: 'compacted', compacted: this.#compacted }
    if (after >= this.#chain.last) return { kind: 'changes', changes: [] }
    const previous = this.#chain.atOrBefore(after)
    const read = {
      client: this.#client,
      layout: this.#layout,
      after,
      previous,
      upTo: this.#chain.last,
      limit,
      signal: this.#closing.signal,
    }
    const history = await readHistory(read)
    if (history.kind === 'compacted') this.#compacted = Math.max(this.#compacted, history.compacted)
    return history
  }

  listen(listener: (changes: readonly StoreChange[]) => void): () => void {
    return attach(this.#listeners, listener)
  }

  async compact(revision: Revision): Promise<void> {
    if (revision > this.#position) throw new RangeError(`revision ${revision} can't be compacted, the store stands at ${this.#position}`)
    if (revision <= this.#compacted) return
    const put = { key: Buffer.from(this.#layout.compacted), value: Buffer.from(String(revision)) }
    const { header } = await readSurely(() => this.#client.kv.put(put))
    // All replicas hear of it by their watch before the first change is gone, so that they refuse the same.
    await this.#delivered(Number(header.revision))
    try {
      await this.#client.kv.compact({ revision: String(revision) })
    } catch (error) {
      // Another store of the same etcd may have gone further.
      if (toFailure(error) !== 'compacted') throw error
    }
  }

  async renewEpoch(): Promise<string> {
    const { profile, randomId = randomUuid } = this.#parts
    const before = this.#epoch
    while (this.#epoch.epoch === before.epoch) {
      const { revision } = await writeEpoch(this.#client, this.#layout, { epoch: randomId(), profile, replaces: this.#epoch.revision })
      await this.#delivered(revision)
    }
    return this.#epoch.epoch
  }

  status(): StoreStatus {
    const refusing = this.#refusing || this.#unreachable || this.#alarm
    return { epoch: this.#epoch.epoch, revision: this.#position, compacted: this.#compacted, refusing, ...this.#sizes }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    await Promise.allSettled(this.#tails.values())
    await this.leadership.close()
    this.#statusTimer?.cancel()
    this.#checkTimer?.cancel()
    this.#watch?.close()
    this.#rejectWaiters('the store is closed')
    for (const tell of this.#opened) tell()
    this.#listeners.clear()
    this.#replacedListeners.clear()
    this.#client.close()
  }

  async #commit(commit: StoreCommit): Promise<StoreOutcome> {
    if (this.#closing.signal.aborted) throw unavailable('the store is closed')
    checkKey(commit.key)
    if (commit.isLate?.()) return { kind: 'late' }
    await this.#following()
    if (this.#refusing !== '') throw unavailable(`the store can't write: ${this.#refusing}`)
    if (commit.isLate?.()) return { kind: 'late' }
    this.#unanswered.set(commit.writeId, 0)
    try {
      const isNothing = commit.value === undefined && commit.expected === 0
      if (isNothing) return { kind: 'stale' }
      const outcome = await sendCommit(this.#client, toTransaction(this.#layout, this.#epoch.revision, commit), commit)
      return await this.#conclude(commit, outcome)
    } catch (error) {
      if (toFailure((error as { cause?: unknown }).cause ?? error) === 'full') void this.#readStatus()
      const seen = this.#unanswered.get(commit.writeId) ?? 0
      if (seen > 0) return { kind: 'written', revision: seen }
      throw error
    } finally {
      this.#unanswered.delete(commit.writeId)
    }
  }

  /** What an answer means, once memory has all that it rests on. */
  async #conclude(commit: StoreCommit, outcome: TxnOutcome): Promise<StoreOutcome> {
    switch (outcome.kind) {
      case 'late':
        return outcome
      case 'written':
        // The watch stands there and has not shown it: it follows another line than the one that was written to.
        if (outcome.revision <= this.#position && this.#unanswered.get(commit.writeId) !== outcome.revision) {
          this.#restartWatch('etcd stands behind what it has told')
          throw unknownOutcome('etcd was restored in this moment')
        }
        await this.#delivered(outcome.revision)
        return outcome
      case 'refused': {
        const { revisions, mayHaveHappened } = outcome
        if (revisions.epoch !== this.#epoch.revision) {
          const why = 'the store was restored, or has another epoch, in this moment'
          throw mayHaveHappened ? unknownOutcome(why) : unavailable(why)
        }
        await this.#delivered(Math.max(revisions.deletion, revisions.key, ...revisions.conditions))
        const seen = this.#unanswered.get(commit.writeId) ?? 0
        if (seen > 0) return { kind: 'written', revision: seen }
        // An earlier attempt that still is under way could be written when the key is as expected again.
        const mayStillHappen = commit.expected === 0 || revisions.key === commit.expected
        if (mayHaveHappened && (mayStillHappen || seen === overlooked)) throw unknownOutcome('etcd gave no answer')
        if (revisions.key !== commit.expected) return { kind: 'stale' }
        return { kind: 'unmet', index: commit.conditions.findIndex(({ revision }, index) => revision !== revisions.conditions[index]) }
      }
    }
  }

  /** Resolves when listeners have been told of everything up to a revision. */
  #delivered(revision: Revision): Promise<void> {
    if (revision <= this.#position) return Promise.resolve()
    void this.#expect(revision)
    return new Promise((resolve, reject) => {
      const timer = this.#parts.clock.after(etcdDeliveryWaitMs, () => waiter.reject(unknownOutcome('the watch of etcd is behind')))
      const waiter: Waiter = {
        revision,
        resolve: () => {
          timer.cancel()
          resolve()
        },
        reject: (error) => {
          timer.cancel()
          this.#waiters = this.#waiters.filter((other) => other !== waiter)
          reject(error)
        },
      }
      this.#waiters.push(waiter)
    })
  }

  #rejectWaiters(why: string): void {
    for (const { reject } of [...this.#waiters]) reject(unknownOutcome(why))
  }

  /** One question is under way at a time; whoever comes while it is gets the answer to the next. */
  #latest(): Promise<Revision> {
    if (this.#asking === undefined) return this.#askLatest()
    this.#askingNext ??= this.#asking.then(
      () => this.#askLatest(),
      () => this.#askLatest(),
    )
    return this.#askingNext
  }

  #askLatest(): Promise<Revision> {
    this.#askingNext = undefined
    const asking = this.#readLatest()
    this.#asking = asking
    const forget = () => {
      if (this.#asking === asking) this.#asking = undefined
    }
    asking.then(forget, forget)
    return asking
  }

  async #readLatest(): Promise<Revision> {
    const request = { key: Buffer.from(this.#layout.epoch), keys_only: true }
    // The watch may overtake the answer: only what it had told before the question is known to etcd when that is answered.
    const told = this.#position
    const { header } = await readSurely(() => this.#client.kv.range(request))
    const revision = Number(header.revision)
    // Restored to its past under an open watch: that is looked at when the watch is opened again.
    if (revision < told) this.#restartWatch('etcd stands behind what it has told')
    await this.#following()
    if (this.#refusing !== '') throw unavailable(`the store can't be read at its latest: ${this.#refusing}`)
    if (this.#parts.isReliable) void this.#expect(revision)
    return revision
  }

  #askPosition(): boolean {
    if (!this.#parts.isReliable) return false
    this.#watch?.askPosition()
    return true
  }

  /** Etcd has something to show: a watch that shows nothing stands at a member that is stuck, or has lost the others. */
  async #expect(revision: Revision): Promise<void> {
    this.#expected = Math.max(this.#expected, revision)
    if (this.#isExpecting) return
    this.#isExpecting = true
    const { clock } = this.#parts
    const { signal } = this.#closing
    while (this.#position < this.#expected && !signal.aborted) {
      const before = this.#position
      await sleep(clock, etcdWatchPatienceMs, signal)
      // What has come while this process itself was busy is read first.
      await sleep(clock, etcdWatchLastLookMs, signal)
      if (this.#position !== before || this.#refusing !== '') continue
      this.#watch?.abandon()
      this.#restartWatch('the watch of etcd has fallen silent')
    }
    this.#isExpecting = false
  }

  /** Keeps a watch open until the store is closed. */
  async #follow(onFirst: () => void): Promise<void> {
    const { clock, log, random = Math.random } = this.#parts
    const { signal } = this.#closing
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        if (this.#refusing !== '') await this.#compareLines()
        const end = await this.#watchOnce(() => {
          failures = 0
          this.#refusing = ''
          this.#unreachable = ''
          this.#timesOpened += 1
          this.#tellReachable()
          for (const tell of this.#opened) tell()
          onFirst()
        })
        if (signal.aborted) return
        if (end.kind === 'compacted')
          await this.#replace(`changes up to ${end.revision} were forgotten before they came here`, end.revision)
        else throw end.error
      } catch (error) {
        this.#refusing = `etcd: ${sayFailure((error as { cause?: unknown }).cause ?? error)}`
        this.#tellReachable()
        if (failures === 0) log.warn({ reason: this.#refusing }, 'the watch of etcd was lost')
        const delayMs = Math.min(etcdReconnectDelayMsMax, 25 * 2 ** Math.min(failures, 6))
        await sleep(clock, delayMs * (0.5 + random() / 2), signal)
      }
    }
  }

  #watchOnce(onCreated: () => void): Promise<WatchEnd> {
    return new Promise((resolve) => {
      this.#watch = openWatch(this.#client, this.#layout.all, this.#position + 1, {
        onCreated,
        onEvents: (events) => this.#onEvents(events, resolve),
        onPosition: (revision) => {
          if (this.#parts.isReliable && revision > this.#position) this.#deliver([], revision)
        },
        onEnd: resolve,
      })
      this.#closing.signal.addEventListener('abort', () => resolve({ kind: 'failed', error: new Error('closed') }), { once: true })
      this.#endWatch = (error) => {
        this.#watch?.close()
        resolve({ kind: 'failed', error })
      }
    })
  }

  #endWatch: (error: Error) => void = () => {}

  /** A watch that was lost is mostly open again in a moment, which is better waited for than told to clients. */
  async #following(): Promise<void> {
    if (this.#refusing === '' || this.#closing.signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#parts.clock.after(etcdReopenWaitMs, resolve)
    this.#opened.add(resolve)
    await promise
    timer.cancel()
    this.#opened.delete(resolve)
  }

  #restartWatch(why: string): void {
    if (this.#refusing !== '') return
    this.#refusing = why
    this.#endWatch(new Error(why))
  }

  #onEvents(events: readonly EtcdEvent[], end: (end: WatchEnd) => void): void {
    try {
      const { changes, position, epoch, compacted, isElection } = decodeEvents(events, this.#layout, this.#chain.last)
      const { layout, profile } = this.#parts
      for (const { revision, writeId, key, value } of changes) {
        this.#chain.push(revision)
        if (this.#unanswered.has(writeId)) this.#unanswered.set(writeId, revision)
        this.#lastHeard = { key, revision, writeId, isDelete: value === undefined }
      }
      if (epoch !== undefined) {
        this.#epoch = parseEpoch(epoch.text, epoch.revision, { layout, profile })
        if (epoch.revision > this.#chain.last) this.#chain.push(epoch.revision)
      }
      if (compacted !== undefined) this.#compacted = Math.max(this.#compacted, compacted)
      this.#deliver(changes, position)
      if (isElection) this.leadership.look()
    } catch (error) {
      this.#watch?.close()
      end({ kind: 'failed', error: error as Error })
    }
  }

  #deliver(changes: readonly StoreChange[], position: Revision): void {
    this.#position = position
    for (const listener of this.#listeners) listener(changes)
    const due = this.#waiters.filter(({ revision }) => revision <= position)
    this.#waiters = this.#waiters.filter(({ revision }) => revision > position)
    for (const { resolve } of due) resolve()
  }

  /** Sees whether etcd still is on the line of revisions that was heard of; after a restore it is on another one. */
  async #compareLines(): Promise<void> {
    const heads = await readHeads(this.#client, this.#layout, this.#parts.profile)
    if (heads === undefined) return this.#replace('the store’s keys are gone', 0)
    const isBehind = heads.position < this.#position
    const isOther = heads.epoch.revision <= this.#position && heads.epoch.epoch !== this.#epoch.epoch
    if (isBehind || isOther || !(await this.#hasLastHeard())) await this.#replace('etcd was restored to its past', 0)
  }

  async #hasLastHeard(): Promise<boolean> {
    if (this.#lastHeard === undefined) return true
    const { key, revision, writeId, isDelete } = this.#lastHeard
    const name = isDelete ? this.#layout.deletion : this.#layout.keys + key
    try {
      const { kvs } = await this.#client.kv.range({ key: Buffer.from(name), revision: String(revision) })
      const found = kvs[0]
      if (found === undefined || Number(found.mod_revision) !== revision) return false
      return (isDelete ? found.value.toString() : unframeValue(found.value).writeId) === writeId
    } catch (error) {
      if (toFailure(error) === 'compacted') return true
      throw error
    }
  }

  /** Begins anew with what etcd holds now. A store that was restored gets another epoch, by the first replica that notices. */
  async #replace(why: string, compacted: Revision): Promise<void> {
    const { log, profile, randomId = randomUuid } = this.#parts
    const before = await claim(this.#client, this.#layout, this.#parts)
    const isRestored = compacted === 0
    if (isRestored && before.epoch.epoch === this.#epoch.epoch)
      await writeEpoch(this.#client, this.#layout, { epoch: randomId(), profile, replaces: before.epoch.revision })
    const heads = await claim(this.#client, this.#layout, this.#parts)
    log.warn({ epoch: heads.epoch.epoch, revision: heads.position }, `the state is read anew: ${why}`)
    this.#epoch = heads.epoch
    this.#position = heads.position
    this.#expected = heads.position
    // What came before can't be told: it is not known here, or belongs to another line.
    this.#compacted = heads.position
    this.#chain = new ChangeRevisions(heads.lastChange)
    this.#lastHeard = undefined
    for (const [writeId, seen] of this.#unanswered) if (seen === 0) this.#unanswered.set(writeId, overlooked)
    this.#rejectWaiters(why)
    for (const listener of this.#replacedListeners) listener()
  }

  #checkLater(): void {
    if (this.#closing.signal.aborted) return
    const pauseMs = this.#unreachable === '' ? etcdCheckMs : etcdReconnectDelayMsMax
    this.#checkTimer = this.#parts.clock.after(pauseMs, () => void this.#check())
  }

  /** Whether etcd answers: a connection may be dead and look alive, and requests may be rare. */
  async #check(): Promise<void> {
    const timesOpened = this.#timesOpened
    try {
      // Of several members one may be away.
      for (let left = this.#parts.servers.length; ; left -= 1) {
        try {
          const revision = await this.#client.check(this.#layout.epoch)
          if (this.#parts.isReliable && revision > this.#position) {
            this.#watch?.askPosition()
            void this.#expect(revision)
          }
          break
        } catch (error) {
          if (left <= 1) throw error
        }
      }
      this.#unreachable = ''
    } catch (error) {
      // A refusal is an answer, and so is a watch that was opened meanwhile.
      const isGone = isAway(error) && this.#timesOpened === timesOpened
      this.#unreachable = isGone ? `etcd: ${sayFailure((error as { cause?: unknown }).cause ?? error)}` : ''
    }
    this.#tellReachable()
    this.#checkLater()
  }

  #tellReachable(): void {
    const isReachable = this.#refusing === '' && this.#unreachable === ''
    if (isReachable === this.#isReachable) return
    this.#isReachable = isReachable
    for (const listener of this.#reachableListeners) listener(isReachable)
  }

  async #readStatus(): Promise<void> {
    try {
      const { dbSize, dbSizeInUse } = await this.#client.maintenance.status()
      this.#sizes = { bytes: Number(dbSize), freeBytes: Math.max(0, Number(dbSize) - Number(dbSizeInUse)) }
      const { alarms } = await this.#client.maintenance.alarm({ action: 'Get' })
      const names = alarms.map(({ alarm }) => alarm).filter((alarm) => alarm !== 'None')
      this.#alarm = names.length === 0 ? '' : `etcd has an alarm: ${[...new Set(names)].join(', ')}`
    } catch (error) {
      this.#parts.log.debug({ err: error }, 'the status of etcd could not be read')
    }
  }
}

function attach<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
