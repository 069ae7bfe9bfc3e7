import type { StoreChange, StoreCommit, StoreOutcome } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { isAltered } from '@orch/core/stored'
import type { ChangeWatch } from './change-watch.ts'
import { checkKey, sendCommit, type TxnOutcome, toTransaction, unknownOutcome } from './commit.ts'
import type { EtcdContext } from './context.ts'
import type { Deliveries } from './deliveries.ts'
import { causeOf, toFailure, unavailable } from './errors.ts'

/** The state was reloaded after a commit was sent. If the commit was written before the reload, the watch does not report its change. */
const overlooked = -1

/** The dependencies of commits besides the context. */
export interface CommitsOptions {
  readonly watch: ChangeWatch
  readonly deliveries: Deliveries
  /** etcd has refused a commit because its disk quota is used up. */
  readonly onFull: () => void
}

/** Sends commits, and answers each when the watch has reported its change. */
export class Commits {
  readonly #context: EtcdContext
  readonly #options: CommitsOptions
  /** The last pending commit of each key. Commits to one key are decided in the order of their arrival. */
  readonly #tails = new Map<string, Promise<unknown>>()
  /** Pending commits by write id: 0 until the watch reports the change, `overlooked` if the watch may have missed it. */
  readonly #unanswered = new Map<string, Revision>()
  /** Write ids of commits whose value in etcd differs from the sent one. */
  readonly #altered = new Set<string>()

  constructor(context: EtcdContext, options: CommitsOptions) {
    this.#context = context
    this.#options = options
  }

  commit(commit: StoreCommit): Promise<StoreOutcome> {
    const before = this.#tails.get(commit.key) ?? Promise.resolve()
    const outcome = before.then(() => this.#commitSurely(commit))
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

  /** Resolves when no commit is under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#tails.values())
  }

  /** Called when the watch has reported these changes. */
  note(changes: readonly StoreChange[]): void {
    for (const { revision, writeId, value } of changes) {
      if (!this.#unanswered.has(writeId)) continue
      this.#unanswered.set(writeId, revision)
      if (value !== undefined && isAltered(value)) this.#altered.add(writeId)
    }
  }

  /** Called after a reload, which may have hidden the changes of pending commits. */
  overlook(): void {
    for (const [writeId, seen] of this.#unanswered) if (seen === 0) this.#unanswered.set(writeId, overlooked)
  }

  /** Writes a value again if it was altered on its way to etcd. */
  async #commitSurely(commit: StoreCommit): Promise<StoreOutcome> {
    const outcome = await this.#commit(commit)
    if (outcome.kind !== 'written' || !this.#altered.delete(commit.writeId)) return outcome
    const again = await this.#commit({ ...commit, expected: outcome.revision, conditions: [] })
    if (again.kind === 'written' && !this.#altered.delete(commit.writeId)) return again
    throw unavailable('the value of a write has changed on its way to etcd')
  }

  async #commit(commit: StoreCommit): Promise<StoreOutcome> {
    const { client, layout, closing, timeline } = this.#context
    const { watch, onFull } = this.#options
    if (closing.aborted) throw unavailable('the store is closed')
    checkKey(commit.key)
    if (commit.isLate?.()) return { kind: 'late' }
    await watch.reopened()
    if (watch.problem !== '') throw unavailable(`the store can't write: ${watch.problem}`)
    if (commit.isLate?.()) return { kind: 'late' }
    this.#unanswered.set(commit.writeId, 0)
    try {
      const isNothing = commit.value === undefined && commit.expected === 0
      if (isNothing) return { kind: 'stale' }
      const outcome = await sendCommit(client, toTransaction(layout, timeline.epoch.revision, commit), commit)
      return await this.#conclude(commit, outcome)
    } catch (error) {
      if (toFailure(causeOf(error)) === 'full') onFull()
      const seen = this.#unanswered.get(commit.writeId) ?? 0
      if (seen > 0) return { kind: 'written', revision: seen }
      throw error
    } finally {
      this.#unanswered.delete(commit.writeId)
    }
  }

  /** Interprets an answer once memory has all changes that it depends on. */
  async #conclude(commit: StoreCommit, outcome: TxnOutcome): Promise<StoreOutcome> {
    const { timeline } = this.#context
    const { watch, deliveries } = this.#options
    switch (outcome.kind) {
      case 'late':
        return outcome
      case 'written':
        // The watch has passed this revision without the change, so it follows another line of revisions than the one that received the write.
        if (outcome.revision <= timeline.position && this.#unanswered.get(commit.writeId) !== outcome.revision) {
          watch.restart('etcd is behind a revision that it has reported')
          throw unknownOutcome('etcd was restored in this moment')
        }
        await deliveries.upTo(outcome.revision)
        return outcome
      case 'refused': {
        const { revisions, mayHaveHappened } = outcome
        if (revisions.epoch !== timeline.epoch.revision) {
          const why = 'the store was restored, or has another epoch, in this moment'
          throw mayHaveHappened ? unknownOutcome(why) : unavailable(why)
        }
        await deliveries.upTo(Math.max(revisions.deletion, revisions.key, ...revisions.conditions))
        const seen = this.#unanswered.get(commit.writeId) ?? 0
        if (seen > 0) return { kind: 'written', revision: seen }
        // A pending earlier attempt could still be written if the key returns to its expected state.
        const mayStillHappen = commit.expected === 0 || revisions.key === commit.expected
        if (mayHaveHappened && (mayStillHappen || seen === overlooked)) throw unknownOutcome('etcd gave no answer')
        if (revisions.key !== commit.expected) return { kind: 'stale' }
        return { kind: 'unmet', index: commit.conditions.findIndex(({ revision }, index) => revision !== revisions.conditions[index]) }
      }
    }
  }
}
