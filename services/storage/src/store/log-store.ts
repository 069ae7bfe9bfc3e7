import {
  type FailedCommit,
  type Store,
  type StoreChange,
  type StoreCommit,
  type StoreHistory,
  type StoreOutcome,
  type StorePage,
  type StoreRange,
  type StoreRecord,
  type StoreStatus,
  valueTooLarge,
} from '@orch/core/contracts'
import { badRequest, expired, type Revision, serviceUnavailable } from '@orch/core/meta'
import { Listeners } from '@orch/platform'
import { limits } from '../limits.ts'
import { DamagedStoreError } from './data-folder.ts'
import { findDamage, isDamage, type PastSpan, statesAt, unreferenced, wholePast } from './past.ts'
import { type Batch, type LogEntry, type Meta, NoRoomError, type Tables } from './tables.ts'

/** The dependencies of a store. */
export interface StoreEnvironment {
  /** Milliseconds since 1970, for the times of commits. */
  readonly now: () => number
  readonly monotonic: () => number
  readonly randomId: () => string
  /**
   * Reports damage to a current value, found after the start, before its reader gets the error. The server ends here, because parts that need the
   * value would continue without it (an unread policy forbids nothing).
   */
  readonly onDamage?: ((error: Error) => void) | undefined
  /**
   * Reports a failed write or flush (other than a lack of space) before its callers get the error. The contents of the medium are then unknown, and a
   * second flush may succeed without the first one's pages. The server ends here; the store accepts no more writes.
   */
  readonly onFailure?: ((error: Error) => void) | undefined
  /** Called on damage that affects only the past, which is forgotten up to a revision. */
  readonly onPastForgotten?: ((damage: string, upTo: Revision) => void) | undefined
}

interface Waiting {
  readonly commit: StoreCommit
  readonly resolve: (outcome: StoreOutcome) => void
  readonly reject: (error: unknown) => void
}

interface Checked {
  readonly waiting: Waiting
  readonly outcome: StoreOutcome
}

/**
 * The store over a log and an index. During a flush, commits wait; then all waiting commits are checked one after the other and share the next flush.
 *
 *   in flight {a b}   waiting {c d}   a b durable → listeners called with a b → a b answered → c d checked → in flight {c d}
 *   the flush of {a b} fails → a b refused, never visible → c d checked against the state before a
 */
export class LogStore implements Store {
  readonly recall: Store['recall']
  readonly amend: Store['amend']
  readonly density: Store['density']
  readonly snapshot: Store['snapshot']
  readonly #tables: Tables
  readonly #environment: StoreEnvironment
  readonly #listeners = new Listeners<readonly StoreChange[]>()
  #waiting: Waiting[] = []
  #meta: Meta
  /** The last assigned revision, including commits whose flush failed. */
  #given: Revision
  #flush: Promise<void> | undefined
  #isScheduled = false
  #refusing = ''
  /** A write has failed; no further writes are possible. */
  #hasFailed = false
  #retriedMs = 0
  #sweptEntriesMax = limits.compactionStepEntries
  #sweeping: Promise<void> | undefined
  /** The history is damaged: the entries to be swept do not name all others. */
  #isPastDamaged = false
  #closed: Promise<void> | undefined

  constructor(tables: Tables, environment: StoreEnvironment) {
    this.#tables = tables
    this.recall = tables.recall?.bind(tables)
    this.amend = tables.amend?.bind(tables)
    if (tables.density !== undefined) this.density = () => tables.density ?? 1
    this.snapshot = tables.fork === undefined ? undefined : tables.fork.bind(tables, undefined)
    this.#environment = environment
    this.#meta = tables.meta
    this.#given = tables.meta.revision
  }

  commit(commit: StoreCommit): Promise<StoreOutcome> {
    return new Promise((resolve, reject) => {
      this.#queue({ commit, resolve, reject })
      this.#schedule()
    })
  }

  commitAll(commits: readonly StoreCommit[]): Promise<(StoreOutcome | FailedCommit)[]> {
    return new Promise((resolve) => {
      const outcomes = new Array<StoreOutcome | FailedCommit>(commits.length)
      let decided = 0
      for (const [index, commit] of commits.entries()) {
        const decide = (outcome: StoreOutcome | FailedCommit) => {
          outcomes[index] = outcome
          if (++decided === commits.length) resolve(outcomes)
        }
        this.#queue({ commit, resolve: decide, reject: (error) => decide({ kind: 'failed', error }) })
      }
      if (commits.length === 0) resolve(outcomes)
      this.#schedule()
    })
  }

  #queue(waiting: Waiting): void {
    const { key, value } = waiting.commit
    const keyBytes = Buffer.byteLength(key)
    if (this.#closed !== undefined) waiting.reject(serviceUnavailable('the store is closed'))
    else if (keyBytes > limits.keyBytesMax)
      waiting.reject(badRequest(`the name is too long: its key has ${keyBytes} bytes, at most ${limits.keyBytesMax} are possible`))
    else if ((value?.length ?? 0) > limits.valueBytesMax) waiting.reject(valueTooLarge())
    else this.#waiting.push(waiting)
  }

  async getAt(key: string, revision: Revision): Promise<StoreRecord | undefined> {
    return this.#readPast(revision, () => {
      const latest = this.#tables.latest.get(key)
      if (latest !== undefined && latest <= revision) return this.#record(latest)
      for (const entry of wholePast(this.#tables, this.#spanAfter(revision))) {
        if (entry.key === key) return this.#record(entry.replaces)
      }
      return undefined
    })
  }

  async recordAt(_key: string, revision: Revision): Promise<StoreRecord | undefined> {
    return this.#readPast(this.#meta.compacted, () => this.#record(revision))
  }

  async range({ prefix, start, limit, revision }: StoreRange): Promise<StorePage> {
    return this.#readPast(revision, () => {
      const records: StoreRecord[] = []
      let bytes = 0
      for (const state of statesAt(this.#tables, { prefix, start }, this.#spanAfter(revision))) {
        if (limit !== 0 && (records.length === limit || bytes > limits.pastBytesPerPart)) return { records, next: state.key }
        const record = this.#record(state.revision)
        if (record === undefined) continue
        records.push(record)
        bytes += record.value.length
      }
      return { records }
    })
  }

  async visit(show: Parameters<Store['visit']>[0]): Promise<void> {
    this.#tables.visit(show)
  }

  async count({ prefix, start, revision }: { prefix: string; start: string; revision: Revision }): Promise<number> {
    return this.#readPast(revision, () => {
      let count = 0
      for (const _ of statesAt(this.#tables, { prefix, start }, this.#spanAfter(revision))) count++
      return count
    })
  }

  async history(after: Revision, limit: number): Promise<StoreHistory> {
    const { compacted, revision } = this.#meta
    if (after < compacted) return { kind: 'compacted', compacted }
    return this.#readPast(after, () => {
      const changes: StoreChange[] = []
      let bytes = 0
      for (const entry of wholePast(this.#tables, this.#spanAfter(after))) {
        if (entry.revision > revision || changes.length === limit || bytes > limits.pastBytesPerPart) break
        changes.push(toStoreChange(entry))
        bytes += entry.length
      }
      return { kind: 'changes', changes }
    })
  }

  listen(listener: (changes: readonly StoreChange[]) => void): () => void {
    return this.#listeners.add(listener)
  }

  async compact(revision: Revision): Promise<void> {
    if (revision > this.#meta.revision)
      throw new RangeError(`revision ${revision} can't be compacted, the store is at ${this.#meta.revision}`)
    if (revision > this.#meta.compacted) this.#meta = { ...this.#meta, compacted: revision }
    this.#sweeping ??= this.#sweepAll().finally(() => {
      this.#sweeping = undefined
    })
    await this.#sweeping
  }

  async renewEpoch(): Promise<string> {
    const epoch = this.#environment.randomId()
    await this.#write({ appended: [], removed: [], meta: { epoch }, purpose: 'put' })
    this.#meta = { ...this.#meta, epoch }
    return epoch
  }

  status(): StoreStatus {
    this.#retry()
    const { epoch, revision, compacted } = this.#meta
    return { epoch, revision, compacted, refusing: this.#refusing, ...this.#tables.sizes() }
  }

  close(): Promise<void> {
    this.#closed ??= this.#end()
    return this.#closed
  }

  async #end(): Promise<void> {
    while (this.#flush !== undefined || this.#waiting.length > 0) {
      await this.#flush
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#listeners.clear()
    await this.#tables.close()
  }

  #record(revision: Revision): StoreRecord | undefined {
    const entry = revision === 0 ? undefined : this.#tables.entry(revision)
    return entry?.value === undefined ? undefined : { key: entry.key, revision, value: entry.value }
  }

  #schedule(): void {
    if (this.#tables.isImmediate) {
      this.#begin()
      return
    }
    if (this.#isScheduled || this.#flush !== undefined) return
    this.#isScheduled = true
    // Runs after the callbacks of this turn, so that all its commits share the flush.
    setImmediate(() => {
      this.#isScheduled = false
      if (this.#flush === undefined) this.#begin()
    })
  }

  /** Checks all waiting commits and flushes their writes. */
  #begin(): void {
    // On a full disk each commit is checked by its own size, so that a large object does not make a deletion fail.
    const waiting = this.#waiting.splice(0, this.#tables.isFull ? 1 : this.#waiting.length)
    const { checked, entries } = this.#checkAll(waiting)
    if (entries.length === 0) {
      this.#settle(checked)
      if (this.#waiting.length > 0) this.#schedule()
      return
    }
    const purpose = entries.every(({ value }) => value === undefined) ? 'delete' : 'put'
    const written = this.#write({ appended: entries, removed: [], meta: { revision: this.#given }, purpose })
    if (written === undefined) {
      this.#succeed(checked, entries)
      return
    }
    this.#flush = written.then(
      () => this.#succeed(checked, entries),
      (error: unknown) => this.#fail(checked, error),
    )
  }

  /** Writes to the tables if no write has failed. */
  #write(batch: Batch): Promise<void> | undefined {
    if (this.#hasFailed) return Promise.reject(new Error(this.#refusing))
    try {
      return this.#tables.write(batch)?.then(
        () => {
          // The outcome of writes after a failed write is also unknown.
          if (this.#hasFailed) throw new Error(this.#refusing)
        },
        (error: unknown) => this.#failWrite(error),
      )
    } catch (error) {
      return Promise.resolve(error).then((thrown) => this.#failWrite(thrown))
    }
  }

  #failWrite(cause: unknown): never {
    if (!(cause instanceof NoRoomError) && !this.#hasFailed) {
      const error = cause instanceof Error ? cause : new Error(String(cause))
      this.#hasFailed = true
      this.#refusing = error.message
      this.#environment.onFailure?.(error)
    }
    throw cause
  }

  #checkAll(waiting: readonly Waiting[]): { checked: Checked[]; entries: LogEntry[] } {
    const pending = new Map<string, Revision>()
    const revisionOf = (key: string) => pending.get(key) ?? this.#tables.latest.get(key) ?? 0
    const checked: Checked[] = []
    const entries: LogEntry[] = []
    let previous = this.#meta.revision
    const timeMs = this.#environment.now()
    for (const one of waiting) {
      const { key, value, writeId, expected, origin } = one.commit
      const refusal = checkCommit(one.commit, revisionOf)
      if (refusal === undefined) {
        const revision = ++this.#given
        entries.push({ revision, previous, replaces: expected, key, writeId, value, timeMs, origin })
        pending.set(key, value === undefined ? 0 : revision)
        previous = revision
      }
      checked.push({ waiting: one, outcome: refusal ?? { kind: 'written', revision: previous } })
    }
    return { checked, entries }
  }

  #succeed(checked: readonly Checked[], entries: readonly LogEntry[]): void {
    this.#flush = undefined
    this.#refusing = ''
    // `compacted` and the epoch may have changed during the flush.
    this.#meta = { ...this.#meta, revision: entries.at(-1)!.revision }
    this.#listeners.call(entries)
    this.#settle(checked)
    if (this.#waiting.length > 0) this.#begin()
  }

  #fail(checked: readonly Checked[], cause: unknown): void {
    this.#flush = undefined
    this.#refusing = cause instanceof Error ? cause.message : String(cause)
    for (const { waiting } of checked) waiting.reject(serviceUnavailable(`the store can't write: ${this.#refusing}`, { cause }))
    if (this.#waiting.length > 0) this.#begin()
  }

  #settle(checked: readonly Checked[]): void {
    for (const { waiting, outcome } of checked) waiting.resolve(outcome)
  }

  #spanAfter(after: Revision): PastSpan {
    return { after, upTo: this.#meta.revision }
  }

  /** Reads changes after a revision. A damaged part is forgotten before the error is thrown. */
  #readPast<T>(after: Revision, read: () => T): T {
    if (after < this.#meta.compacted) throw expired(`revision ${after} has been compacted`)
    try {
      return read()
    } catch (error) {
      if (isDamage(error)) this.#forgetDamaged(error)
      throw error
    }
  }

  /** Forgets the unreadable past; current values do not belong to the past. */
  #forgetDamaged(error: Error): void {
    const { shownAfter, isOfPresent } = findDamage(this.#tables, this.#meta)
    if (isOfPresent) {
      this.#environment.onDamage?.(error)
      return
    }
    this.#isPastDamaged = true
    this.#meta = { ...this.#meta, compacted: shownAfter }
    this.#environment.onPastForgotten?.(error instanceof DamagedStoreError ? error.what : error.message, shownAfter)
    this.#listeners.call([])
  }

  async #sweepAll(): Promise<void> {
    while (this.#meta.swept < this.#meta.compacted) {
      if (this.#isPastDamaged) await this.#sweepUnreferenced()
      else await this.#sweep()
      // Tables in memory write at once: without this, all steps would be one turn.
      if (this.#tables.isImmediate) await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** One step of a compaction: removes the replaced values of its entries, and deletions. */
  async #sweep(): Promise<void> {
    const { swept, compacted } = this.#meta
    const removed: Revision[] = []
    let last = compacted
    let seen = 0
    let bytes = 0
    try {
      for (const entry of this.#tables.entries(swept)) {
        if (entry.revision > compacted) break
        const { replaces, value } = entry
        if (replaces !== 0) removed.push(replaces)
        if (value === undefined) removed.push(entry.revision)
        else bytes += value.length
        if (++seen === this.#sweptEntriesMax || (this.#tables.isImmediate && bytes > limits.compactionStepBytes)) {
          last = entry.revision
          break
        }
      }
    } catch (error) {
      if (isDamage(error)) this.#forgetDamaged(error)
      if (this.#isPastDamaged) return
      throw error
    }
    await this.#removeSwept(removed, { last, seen })
  }

  /** One step of a compaction of a damaged past: removes only unreferenced entries. */
  async #sweepUnreferenced(): Promise<void> {
    const { swept, compacted } = this.#meta
    const removed = this.#readPast(compacted, () => unreferenced(this.#tables, this.#meta, this.#sweptEntriesMax))
    const isLast = removed.length < this.#sweptEntriesMax
    await this.#removeSwept(removed, { last: isLast ? compacted : swept, seen: removed.length })
    if (isLast && this.#meta.swept === compacted) this.#isPastDamaged = false
  }

  async #removeSwept(removed: readonly Revision[], { last, seen }: { readonly last: Revision; readonly seen: number }): Promise<void> {
    const { compacted } = this.#meta
    try {
      await this.#write({ appended: [], removed, meta: { compacted, swept: last }, purpose: 'sweep' })
    } catch (error) {
      if (!(error instanceof NoRoomError) || seen <= 1) throw error
      // A smaller step changes fewer pages.
      this.#sweptEntriesMax = Math.ceil(seen / 4)
      return
    }
    this.#sweptEntriesMax = Math.min(limits.compactionStepEntries, this.#sweptEntriesMax * 2)
    this.#meta = { ...this.#meta, swept: last }
  }

  /** Retries at intervals: while the server is not ready, no request arrives that would retry the write. */
  #retry(): void {
    const nowMs = this.#environment.monotonic()
    if (
      this.#refusing === '' ||
      this.#hasFailed ||
      this.#flush !== undefined ||
      this.#closed !== undefined ||
      nowMs - this.#retriedMs < limits.refusingRetryMs
    )
      return
    this.#retriedMs = nowMs
    const attempt = this.#write({ appended: [], removed: [], meta: { revision: this.#meta.revision }, purpose: 'put' }) ?? Promise.resolve()
    this.#flush = attempt.then(
      () => this.#recover(''),
      (error: unknown) => this.#recover(error instanceof Error ? error.message : String(error)),
    )
  }

  #recover(refusing: string): void {
    this.#flush = undefined
    this.#refusing = refusing
    if (this.#waiting.length > 0) this.#begin()
  }
}

/** The members of an entry. A search needs only the keys of most entries, so other members are decoded when a caller reads them. */
function toStoreChange(entry: LogEntry): StoreChange {
  const { revision, previous, replaces, key } = entry
  return {
    ...{ revision, previous, replaces, key },
    get writeId() {
      return entry.writeId
    },
    get timeMs() {
      return entry.timeMs
    },
    get origin() {
      return entry.origin
    },
    get value() {
      return entry.value
    },
  }
}

/** The reason why a commit may not be written; undefined if it may. */
export function checkCommit(
  commit: StoreCommit,
  revisionOf: (key: string) => Revision,
): Exclude<StoreOutcome, { kind: 'written' }> | undefined {
  if (commit.isLate?.()) return { kind: 'late' }
  if (revisionOf(commit.key) !== commit.expected) return { kind: 'stale' }
  const index = commit.conditions.findIndex(({ key, revision }) => revisionOf(key) !== revision)
  if (index !== -1) return { kind: 'unmet', index }
  // The deletion of an absent key would change nothing.
  if (commit.value === undefined && commit.expected === 0) return { kind: 'stale' }
  return undefined
}
