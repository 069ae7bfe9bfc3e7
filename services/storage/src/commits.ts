import {
  type CallContext,
  type CommitOutcome,
  type CommitRequest,
  commitConditionsMax,
  type FailedCommit,
  type Store,
  type StoreOutcome,
} from '@orch/core/contracts'
import { at } from '@orch/core/json'
import { badRequest, internal, type Revision, timeout } from '@orch/core/meta'
import { checkStored } from '@orch/core/stored'
import { type Clock, latenessOf } from '@orch/platform'
import { type StoredObject, toEntry, toStored } from './memory/stored-object.ts'
import { type State, stateIsLoading } from './state.ts'

/** The dependencies of commits. */
export interface CommitsOptions {
  readonly store: Store
  readonly state: State
  readonly clock: Clock
  readonly randomId: () => string
}

/** An internal write: an unchanged object is stored again, or a key is deleted. */
export interface Rewrite {
  readonly key: string
  /** Undefined to delete the key. */
  readonly object?: StoredObject | undefined
  /** The key's expected revision. */
  readonly expected: Revision
}

/** The caller of a commit; empty for the service's own commits. */
interface Caller {
  readonly isLate?: (() => boolean) | undefined
  readonly context?: CallContext | undefined
}

/** Sends commits to the store. A repeated write id returns the first outcome instead of a second commit. */
export class Commits {
  readonly #store: Store
  readonly #state: State
  readonly #clock: Clock
  readonly #randomId: () => string
  /** Outcomes of pending commits, by write id. */
  readonly #committing = new Map<string, Promise<CommitOutcome>>()
  /** Pending commits that are committed together. */
  readonly #together = new Set<Promise<unknown>>()
  /** While this promise is set, commits of callers wait for it. */
  #holding: Promise<void> | undefined
  /** Commits of callers are answered at the end of the event loop's turn, not immediately. */
  isAnsweredLast = false

  constructor({ store, state, clock, randomId }: CommitsOptions) {
    this.#store = store
    this.#state = state
    this.#clock = clock
    this.#randomId = randomId
  }

  /** A commit that a caller requests. */
  commit = async (request: CommitRequest, context?: CallContext): Promise<CommitOutcome> => {
    const isLate = latenessOf(context, this.#clock)
    while (this.#holding !== undefined) await this.#holding
    const outcome = await this.#commit(request, { isLate, context })
    if (this.isAnsweredLast && outcome.kind === 'written') await new Promise((resolve) => setImmediate(resolve))
    return outcome
  }

  /** Commits that a caller requests, in order. If the store can commit them together, they are visible and answered together. */
  commitAll = async (requests: readonly CommitRequest[]): Promise<(CommitOutcome | FailedCommit)[]> => {
    const { commitAll } = this.#store
    if (commitAll === undefined) {
      const failed = (error: unknown): FailedCommit => ({ kind: 'failed', error })
      return Promise.all(requests.map((request) => this.commit(request).catch(failed)))
    }
    while (this.#holding !== undefined) await this.#holding
    const commits = requests.map(({ key, expected, conditions, value, writeId, user }) => {
      return { key, expected, conditions, value, writeId, origin: user === undefined ? undefined : { request: '', user } }
    })
    const deciding = commitAll.call(this.#store, commits)
    this.#together.add(deciding)
    const outcomes = await deciding.finally(() => this.#together.delete(deciding))
    if (this.isAnsweredLast) await new Promise((resolve) => setImmediate(resolve))
    return outcomes.map((outcome, index) => (outcome.kind === 'failed' ? outcome : this.#answerOf(at(requests, index), outcome)))
  }

  /** Runs internal commits one after the other while commits of callers wait. */
  async holding(work: () => Promise<void>): Promise<void> {
    while (this.#holding !== undefined) await this.#holding
    const working = work()
    this.#holding = working.catch(() => {})
    try {
      await working
    } finally {
      this.#holding = undefined
    }
  }

  /** Returns the first outcome of a write id that is pending or remembered. */
  #commit(request: CommitRequest, caller: Caller = {}): Promise<CommitOutcome> {
    const { writeId, conditions } = request
    if (conditions.length > commitConditionsMax)
      return Promise.reject(badRequest(`a commit may carry ${commitConditionsMax} conditions, not ${conditions.length}`))
    const again = this.#committing.get(writeId)
    if (again !== undefined) return again
    const revision = this.#state.revisionOfWrite(writeId)
    if (revision !== undefined) return Promise.resolve({ kind: 'written', revision })
    if (request.value !== undefined) {
      try {
        checkStored(request.value)
      } catch (cause) {
        return Promise.reject(internal('the value of a commit is no stored value', { cause }))
      }
    }
    const { key, value, removesUnreadable, user } = request
    const { isLate, context: { traceparent, requestId } = {} } = caller
    let { expected } = request
    if (removesUnreadable === true) {
      const found = this.#state.unreadable.get(key)
      if (found === undefined || value !== undefined) return Promise.resolve({ kind: 'stale' })
      expected = found.revision
    }
    const origin = user === undefined ? undefined : { request: requestId ?? '', user }
    const commit = { key, expected, conditions, writeId, value, isLate, traceparent, origin }
    const outcome = this.#outcomeOf(request, this.#store.commit(commit))
    this.#committing.set(writeId, outcome)
    return outcome
  }

  async #outcomeOf(request: CommitRequest, deciding: Promise<StoreOutcome>): Promise<CommitOutcome> {
    try {
      return this.#answerOf(request, await deciding)
    } finally {
      this.#committing.delete(request.writeId)
    }
  }

  #answerOf({ key, writeId }: CommitRequest, decided: StoreOutcome): CommitOutcome {
    if (decided.kind === 'written') return decided
    const current = this.#state.tree.get(key)
    // A repeated write never meets its condition: the key has the revision that the first one wrote.
    if (current?.writeId === writeId) return { kind: 'written', revision: current.revision }
    switch (decided.kind) {
      case 'unmet':
        return decided
      case 'stale':
        if (this.#state.loading !== undefined) throw stateIsLoading()
        return current === undefined ? { kind: 'stale' } : { kind: 'stale', current: toEntry(current) }
      case 'late':
        throw timeout('the request was not completed in time, nothing was written')
    }
  }

  /** Stores unchanged objects again and deletes keys, each at its expected revision and as a separate change. */
  async rewriteAll(writes: readonly Rewrite[]): Promise<(StoreOutcome | FailedCommit)[]> {
    const { commitAll } = this.#store
    // A store that takes commits together has no lost answers, which are found by their write ids.
    const sharedId = commitAll === undefined ? undefined : this.#randomId()
    const commits = writes.map(({ key, object, expected }) => {
      const writeId = sharedId ?? this.#randomId()
      return { key, expected, conditions: [], writeId, ...(object === undefined ? {} : { value: toStored(object, writeId) }) }
    })
    if (commitAll !== undefined) return commitAll.call(this.#store, commits)
    return Promise.all(commits.map((commit) => this.#store.commit(commit)))
  }

  /** Stores an unchanged object again at its expected revision, as a separate change. */
  writeAgain(object: StoredObject, expected: Revision): Promise<CommitOutcome> {
    const writeId = this.#randomId()
    return this.#commit({ key: object.key, expected, conditions: [], writeId, value: toStored(object, writeId) })
  }

  /** Deletes a key at its expected revision. */
  remove(key: string, expected: Revision): Promise<CommitOutcome> {
    return this.#commit({ key, expected, conditions: [], writeId: this.#randomId() })
  }

  /** Resolves when all pending commits have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#committing.values(), ...this.#together])
  }
}
