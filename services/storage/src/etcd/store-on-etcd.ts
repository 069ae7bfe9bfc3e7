import type {
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
} from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { Listeners } from '@orch/platform'
import { ChangeWatch } from './change-watch.ts'
import { readSurely } from './client.ts'
import { Commits } from './commits.ts'
import type { EtcdContext } from './context.ts'
import { decodeEvents } from './decode.ts'
import { Deliveries } from './deliveries.ts'
import { toFailure } from './errors.ts'
import { claimHeads, type Heads, writeEpoch } from './heads.ts'
import { EtcdHealth } from './health.ts'
import { readHistory } from './history.ts'
import { LatestRevision } from './latest-revision.ts'
import { type EtcdLeadership, openLeadership } from './leadership.ts'
import { EtcdReader } from './reader.ts'
import { findBreak, Timeline } from './timeline.ts'
import type { EtcdEvent } from './wire.ts'

/** The parts of a store on etcd. */
export interface StoreParts extends Omit<EtcdContext, 'closing' | 'timeline'> {
  readonly heads: Heads
  /** From 0 to 1. */
  readonly random: () => number
  readonly randomId: () => string
  /** The name of this replica in the election. */
  readonly candidate: string
  /** The number of members. */
  readonly servers: number
}

/**
 * One watch shows all changes, also those of this process: a commit is answered when its own change has come back, so that a
 * reader of memory sees it.
 *
 *   txn → written at 17 ─────────────────────────┐
 *   watch → 15 16 17 → listeners called → position 17 → the commit's waiter is resolved
 */
export class StoreOnEtcd implements Store {
  readonly shared: SharedStore
  readonly leadership: EtcdLeadership
  readonly #closing = new AbortController()
  readonly #context: EtcdContext
  readonly #timeline: Timeline
  readonly #reader: EtcdReader
  readonly #watch: ChangeWatch
  readonly #health: EtcdHealth
  readonly #deliveries: Deliveries
  readonly #commits: Commits
  readonly #randomId: () => string
  readonly #listeners = new Listeners<readonly StoreChange[]>()
  readonly #replacedListeners = new Listeners()
  /** The store has read values again up to this revision because they had changed. */
  #doubted = 0

  constructor({ heads, random, randomId, candidate, servers, ...shared }: StoreParts) {
    const { client, layout, clock, log, isReliable } = shared
    const timeline = new Timeline(heads)
    const context: EtcdContext = { ...shared, closing: this.#closing.signal, timeline }
    this.#context = context
    this.#timeline = timeline
    this.#randomId = randomId
    this.#reader = new EtcdReader(client, layout)
    this.#watch = new ChangeWatch(context, random, {
      beforeOpen: () => this.#compareLines(),
      onOpened: () => this.#health.watchOpened(),
      onLost: () => this.#health.report(),
      onEvents: (events) => this.#take(events),
      onPosition: (revision) => {
        if (isReliable && revision > timeline.position) this.#deliver([], revision)
      },
      onCompacted: (revision) => this.#replace(`changes up to ${revision} were forgotten before they came here`, false),
    })
    this.#health = new EtcdHealth(context, this.#watch, servers)
    this.#deliveries = new Deliveries(context, (revision) => void this.#watch.expect(revision))
    const onFull = () => void this.#health.readStatus()
    this.#commits = new Commits(context, { watch: this.#watch, deliveries: this.#deliveries, onFull })
    this.leadership = openLeadership({ client, layout, clock, log, candidate })
    this.shared = this.#openShared()
  }

  /** Begins to follow etcd. Resolves when the watch is open. */
  async begin(): Promise<void> {
    await this.#health.beginStatus()
    await this.#watch.begin()
    this.leadership.begin()
    this.#health.beginChecks()
  }

  commit(commit: StoreCommit): Promise<StoreOutcome> {
    return this.#commits.commit(commit)
  }

  getAt(key: string, revision: Revision): Promise<StoreRecord | undefined> {
    return this.#reader.at(key, revision)
  }

  async recordAt(key: string, revision: Revision): Promise<StoreRecord | undefined> {
    const record = await this.#reader.at(key, Math.max(revision, this.#timeline.compacted))
    return record?.revision === revision ? record : undefined
  }

  count(range: Omit<StoreRange, 'limit'>): Promise<number> {
    return this.#reader.count(range)
  }

  range(range: StoreRange): Promise<StorePage> {
    return this.#reader.range(range)
  }

  visit(show: (record: StoreRecord) => void): Promise<void> {
    return this.#reader.visit(this.#timeline.position, show)
  }

  async history(after: Revision, limit: number): Promise<StoreHistory> {
    const { client, layout, clock, closing, timeline } = this.#context
    const { compacted, lastChange } = timeline
    if (after < compacted) return { kind: 'compacted', compacted }
    if (after >= lastChange) return { kind: 'changes', changes: [] }
    const previous = timeline.changeAtOrBefore(after)
    const history = await readHistory({ client, layout, after, previous, upTo: lastChange, limit, clock, signal: closing })
    if (history.kind === 'compacted') timeline.noteCompacted(history.compacted)
    return history
  }

  listen(listener: (changes: readonly StoreChange[]) => void): () => void {
    return this.#listeners.add(listener)
  }

  async compact(revision: Revision): Promise<void> {
    const { client, layout } = this.#context
    const { position, compacted } = this.#timeline
    if (revision > position) throw new RangeError(`revision ${revision} can't be compacted, the store is at ${position}`)
    if (revision <= compacted) return
    const put = { key: Buffer.from(layout.compacted), value: Buffer.from(String(revision)) }
    const { header } = await readSurely(() => client.kv.put(put))
    // The watches of all replicas show this before the first change is removed, so that all replicas refuse the same revisions.
    await this.#deliveries.upTo(Number(header.revision))
    try {
      await client.kv.compact({ revision: String(revision) })
    } catch (error) {
      // Another store on the same etcd may have advanced further.
      if (toFailure(error) !== 'compacted') throw error
    }
  }

  async renewEpoch(): Promise<string> {
    const { client, layout, profile } = this.#context
    const before = this.#timeline.epoch
    while (this.#timeline.epoch.epoch === before.epoch) {
      const { revision: replaces } = this.#timeline.epoch
      const { revision } = await writeEpoch(client, layout, { epoch: this.#randomId(), profile, replaces })
      await this.#deliveries.upTo(revision)
    }
    return this.#timeline.epoch.epoch
  }

  status(): StoreStatus {
    const { epoch, position: revision, compacted } = this.#timeline
    return { epoch: epoch.epoch, revision, compacted, refusing: this.#health.problem, ...this.#health.sizes }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    await this.#commits.settled()
    await this.leadership.close()
    this.#health.close()
    this.#watch.close()
    this.#deliveries.rejectAll('the store is closed')
    this.#listeners.clear()
    this.#replacedListeners.clear()
    this.#context.client.close()
  }

  #openShared(): SharedStore {
    const { isReliable, timeline } = this.#context
    const latest = new LatestRevision(this.#context, this.#watch)
    return {
      latest: () => latest.ask(),
      askPosition: () => {
        if (isReliable) this.#watch.askPosition()
        return isReliable
      },
      onReplaced: (listener) => this.#replacedListeners.add(listener),
      onReachable: (listener) => this.#health.onReachable(listener),
      visitRevisions: async (show) => {
        const revision = timeline.position
        await this.#reader.visitRevisions(revision, show)
        return revision
      },
      members: () => this.#context.client.members(),
      mayLoseChanges: !isReliable,
    }
  }

  #take(events: readonly EtcdEvent[]): void {
    const decoded = decodeEvents(events, this.#context.layout, this.#timeline.lastChange)
    if (this.#isDoubtful(decoded.altered)) return
    this.#commits.note(decoded.changes)
    this.#timeline.note(decoded, this.#context)
    this.#deliver(decoded.changes, decoded.position)
    if (decoded.isElection) this.leadership.look()
  }

  /** A change that differs from the written value may have been damaged on its way. A new watch that begins before the change reads it again. */
  #isDoubtful(altered: readonly StoreChange[]): boolean {
    const first = altered.find(({ revision }) => revision > this.#doubted)
    if (first === undefined) return false
    this.#doubted = first.revision
    const what = first.value === undefined ? 'write id of the deletion' : 'value'
    this.#watch.restart(`the ${what} of ${first.key} at revision ${first.revision} has another checksum than when it was written`)
    return true
  }

  #deliver(changes: readonly StoreChange[], position: Revision): void {
    this.#timeline.moveTo(position)
    this.#listeners.call(changes)
    this.#deliveries.reached(position)
  }

  async #compareLines(): Promise<void> {
    const why = await findBreak(this.#context.client, this.#context, this.#timeline)
    if (why !== undefined) await this.#replace(why, true)
  }

  /** Reloads etcd's present contents. After a restore, the first replica that notices it gives the store another epoch. */
  async #replace(why: string, isRestored: boolean): Promise<void> {
    const { client, layout, profile, log } = this.#context
    const owner = { profile, randomId: this.#randomId }
    const before = await claimHeads(client, layout, owner)
    if (isRestored && before.epoch.epoch === this.#timeline.epoch.epoch)
      await writeEpoch(client, layout, { epoch: this.#randomId(), profile, replaces: before.epoch.revision })
    const heads = await claimHeads(client, layout, owner)
    log.warn({ epoch: heads.epoch.epoch, revision: heads.position }, `the state is read anew: ${why}`)
    this.#timeline.restart(heads)
    this.#watch.expectNothing()
    this.#commits.overlook()
    this.#deliveries.rejectAll(why)
    this.#replacedListeners.call()
  }
}
