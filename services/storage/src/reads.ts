import {
  type CallContext,
  type Entry,
  type Freshness,
  type GetRequest,
  type GetResponse,
  type ListPart,
  type ListRequest,
  type Store,
  type Stream,
  scopePrefix,
} from '@orch/core/contracts'
import { badRequest, corruptObject, expired, initializing, type Revision, storageReadError, tooLargeResourceVersion } from '@orch/core/meta'
import { type Clock, declareMetrics, ended, hotCounter, type Metrics, onAbort } from '@orch/platform'
import { limits } from './limits.ts'
import { listStore, listTree } from './list.ts'
import { type StoredObject, toEntry } from './memory/stored-object.ts'
import { resourceLabels } from './resource-labels.ts'
import type { State } from './state.ts'

const pageExpired =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, ' +
  'or use the continue token in this response to retrieve the remainder of the results.'
const exactExpired = 'The resourceVersion for the provided list is too old.'

/** The dependencies of reads. */
export interface ReadsOptions {
  readonly store: Store
  readonly state: State
  readonly clock: Clock
  /** The counter of latest reads of a shared store. */
  readonly metrics?: Metrics | undefined
  /** Aborts when the service closes. */
  readonly closing: AbortSignal
}

/** Reads the present from memory, and the past from memory or the store; each read waits for its revision. */
export class Reads {
  readonly #store: Store
  readonly #state: State
  readonly #clock: Clock
  readonly #closing: AbortSignal
  readonly #counts: ConsistentReads

  constructor({ store, state, clock, metrics, closing }: ReadsOptions) {
    this.#store = store
    this.#state = state
    this.#clock = clock
    this.#closing = closing
    this.#counts = new ConsistentReads(metrics)
  }

  get = async ({ key, read }: GetRequest): Promise<GetResponse> => {
    const at = await this.#revisionFor(read, key)
    if (at !== undefined) {
      const object = await this.#fromStore(read, key, this.#orExpired(read, at, this.#objectAt(key, at, this.#oldestOf(read))))
      return { revision: at, epoch: this.#state.epoch, ...(object === undefined ? {} : { entry: toEntry(object) }) }
    }
    const { tree, revision, epoch } = this.#state
    const object = tree.get(key)
    if (object === undefined) {
      const unreadable = this.#state.unreadable.get(key)
      if (unreadable !== undefined) throw corruptObject(unreadable.problem)
      return { revision, epoch }
    }
    const found = { entry: toEntry(object), revision, epoch }
    return this.#store.isStale?.(key) === true ? { ...found, isStale: true } : found
  }

  list = (request: ListRequest, context?: CallContext) => {
    // Takes the state now, not when the reader requests the first part.
    const read = request.read.kind
    const isHere = (read === 'latest' && this.#store.shared === undefined) || (read === 'any' && this.#state.loading === undefined)
    const attached = isHere ? listTree(request, this.#now()) : undefined
    return toStream<ListPart>(() => this.#list(request, attached), context?.signal)
  }

  getAt = async ({
    key,
    revision,
  }: {
    readonly key: string
    readonly revision: Revision
  }): Promise<{ readonly entry?: Entry | undefined }> => {
    // During a reload, memory lacks stored objects.
    await this.#filled(limits.revisionWaitMs)
    const object = await this.#orExpired(exactly(revision), revision, this.#objectAt(key, revision, this.#state.compacted))
    return object === undefined ? {} : { entry: toEntry(object) }
  }

  #now() {
    const { tree, revision, epoch } = this.#state
    return { tree: tree.forkForReading(), revision, epoch }
  }

  async *#list(request: ListRequest, attached: ReturnType<typeof listTree> | undefined): AsyncGenerator<ListPart, void, undefined> {
    const { head, parts } = attached ?? (await this.#listLater(request))
    this.#requireReadable(request.scope)
    yield head
    yield* parts()
  }

  /** The client would take a list that lacks stored objects for complete. */
  #requireReadable(scope: ListRequest['scope']): void {
    const { unreadable } = this.#state
    if (unreadable.size === 0) return
    const prefix = scopePrefix(scope)
    const problems = [...unreadable].filter(([key]) => key.startsWith(prefix))
    if (problems.length === 0) return
    const [group = '', resource = ''] = scope.resource.split('/')
    throw storageReadError(
      { group: group === 'core' ? '' : group, resource },
      problems.map(([key, { problem }]) => [key, problem]),
    )
  }

  async #listLater(request: ListRequest): Promise<ReturnType<typeof listTree>> {
    const prefix = scopePrefix(request.scope)
    const revision = await this.#revisionFor(request.read, prefix)
    const answer = this.#orExpired(request.read, revision, this.#listAt(request, revision))
    return revision === undefined ? answer : this.#fromStore(request.read, prefix, answer)
  }

  /** If the read's revision is forgotten during the read, by damage or by age, the answer is `expired`. */
  async #orExpired<T>(read: Freshness, revision: Revision | undefined, answer: Promise<T>): Promise<T> {
    try {
      return await answer
    } catch (error) {
      if (revision === undefined || revision >= this.#oldestOf(read)) throw error
      throw expired(read.kind === 'page' ? pageExpired : exactExpired)
    }
  }

  async #listAt(request: ListRequest, revision: Revision | undefined): Promise<ReturnType<typeof listTree>> {
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

  /** The revision that a read needs, once the store can answer it; undefined for memory at that time. */
  async #revisionFor(read: Freshness, prefix: string): Promise<Revision | undefined> {
    const mayWait = read.kind === 'any' && read.beginsWatch !== true
    if (this.#state.loading !== undefined) await this.#filled(mayWait ? limits.fillingWaitMs : 0)
    switch (read.kind) {
      case 'any':
        return undefined
      case 'latest':
        return this.#reachLatest(prefix)
      case 'notOlderThan':
        return this.#reach(read)
      case 'exact':
      case 'page':
        if (read.kind === 'page' && read.epoch !== this.#state.epoch) throw expired(pageExpired)
        await this.#reach(read.kind === 'exact' ? read : { ...read, asked: String(read.revision) })
        if (read.revision < this.#oldestOf(read)) throw expired(read.kind === 'page' ? pageExpired : exactExpired)
        return read.revision
    }
  }

  /** Memory may be behind a store to which others write: the read waits for memory, and reads the store if memory is late. */
  async #reachLatest(prefix: string): Promise<Revision | undefined> {
    const { shared } = this.#store
    if (shared === undefined) return undefined
    const latest = await shared.latest()
    const hasCome =
      (await this.#hasCome(latest, limits.behindPatienceMs)) ||
      (shared.askPosition() && (await this.#hasCome(latest, limits.revisionWaitMs)))
    if (!hasCome) return latest
    this.#counts.add(prefix, { isAnswered: true, isFromStore: false })
    return undefined
  }

  /** The answer of the store; counts latest reads. */
  async #fromStore<T>(read: Freshness, prefix: string, answer: Promise<T>): Promise<T> {
    if (read.kind !== 'latest') return answer
    let isAnswered = false
    try {
      const answered = await answer
      isAnswered = true
      return answered
    } finally {
      this.#counts.add(prefix, { isAnswered, isFromStore: true })
    }
  }

  /** Waits for a revision, unless the read is of the past; undefined if memory has it, else the later revision for a read of the store. */
  async #reach({ revision, asked, isPast = false }: Reached): Promise<Revision | undefined> {
    const { shared } = this.#store
    if (shared !== undefined && !(await this.#hasCome(revision, limits.behindPatienceMs)) && (isPast || !shared.askPosition())) {
      const latest = await shared.latest()
      if (latest >= revision) return latest
    }
    if (isPast ? revision <= this.#state.revision : await this.#hasCome(revision, limits.revisionWaitMs)) return undefined
    if (isPast) throw badRequest(`the state at ${asked} is in the future: the newest revision is ${this.#state.revision}`)
    throw tooLargeResourceVersion(asked, this.#state.revision)
  }

  /** Waits at most this long until memory reaches a revision. */
  async #hasCome(revision: Revision, waitMs: number): Promise<boolean> {
    if (revision <= this.#state.revision) return true
    const ending = new AbortController()
    const giveUp = () => ending.abort()
    const timer = this.#clock.after(waitMs, giveUp)
    onAbort(this.#closing, giveUp)
    while (revision > this.#state.revision && !ending.signal.aborted) await this.#state.notifier.waitUntil(ending.signal)
    timer.cancel()
    this.#closing.removeEventListener('abort', giveUp)
    return revision <= this.#state.revision
  }

  /** No read succeeds while memory is being filled. */
  async #filled(waitMs: number): Promise<void> {
    if (this.#state.loading === undefined) return
    if (waitMs === 0) throw initializing()
    const ending = new AbortController()
    const timer = this.#clock.after(waitMs, () => ending.abort())
    while (this.#state.loading !== undefined && !ending.signal.aborted) await this.#state.notifier.waitUntil(ending.signal)
    timer.cancel()
    if (this.#state.loading !== undefined) throw initializing()
  }

  /** The oldest readable revision. */
  #oldestOf(read: Freshness): Revision {
    return read.kind === 'exact' && read.isPast === true ? this.#store.status().compacted : this.#state.compacted
  }

  async #objectAt(key: string, revision: Revision, oldest: Revision): Promise<StoredObject | undefined> {
    const state = this.#state
    if (revision < oldest) throw expired(exactExpired)
    if (revision >= state.history.floor && revision <= state.revision) {
      const before = state.history.objectBefore(key, revision)
      return before === 'unchanged' ? state.tree.get(key) : before
    }
    const record = await this.#store.getAt(key, revision)
    return record === undefined ? undefined : state.toObject(key, record.revision, record.value)
  }
}

function exactly(revision: Revision): Freshness {
  return { kind: 'exact', revision, asked: String(revision) }
}

const table = {
  apiserver_watch_cache_consistent_read_total: hotCounter(
    '[ALPHA] Reads of the newest state of a store that others write to as well, by resource, whether they were answered, and whether from the store.',
    ['group', 'resource', 'success', 'fallback'],
  ),
}

/** A revision that a read needs. */
interface Reached {
  readonly revision: Revision
  /** The client's text. */
  readonly asked: string
  readonly isPast?: boolean | undefined
}

/** The result of a latest read. */
interface ConsistentRead {
  readonly isAnswered: boolean
  /** Memory did not reach the newest revision in time. */
  readonly isFromStore: boolean
}

/** Counts latest reads of a shared store. */
class ConsistentReads {
  readonly #counter

  constructor(metrics: Metrics | undefined) {
    this.#counter = metrics === undefined ? undefined : declareMetrics(metrics, table).apiserver_watch_cache_consistent_read_total
  }

  /** Counts a read of a key, such as `core/pods/default/a`, or of a prefix. */
  add(prefix: string, { isAnswered, isFromStore }: ConsistentRead): void {
    if (this.#counter === undefined) return
    const labels = { ...resourceLabels(prefix), success: String(isAnswered), fallback: String(isFromStore) }
    this.#counter.series(labels).add(1)
  }
}

/**
 * A stream over a generator. The generator runs only while items are requested, so the caller must attach everything else before. Closing the stream
 * aborts the signal of the generator.
 */
function toStream<T>(
  run: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>,
  ...signals: readonly (AbortSignal | undefined)[]
): Stream<T> {
  const ending = new AbortController()
  const detach = () => {
    for (const signal of signals) signal?.removeEventListener('abort', close)
  }
  const close = () => {
    detach()
    ending.abort(ended)
  }
  for (const signal of signals) onAbort(signal, close)
  const generator = run(ending.signal)
  return {
    close,
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        if (ending.signal.aborted) await generator.return()
        const result = await generator.next()
        if (result.done === true) detach()
        return result
      },
      return: async () => {
        close()
        return generator.return()
      },
      throw: async (error: unknown) => {
        close()
        return generator.throw(error)
      },
    }),
  }
}
