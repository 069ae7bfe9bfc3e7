import {
  type HistoryRequest,
  type HistoryResponse,
  historyChangesMax,
  type PastChange,
  type Store,
  type StoreChange,
} from '@orch/core/contracts'
import { badRequest, expired, type Revision } from '@orch/core/meta'
import { limits } from './limits.ts'
import { jsonOf } from './memory/stored-object.ts'
import type { State } from './state.ts'

/** The dependencies of the past. */
export interface PastOptions {
  readonly store: Store
  readonly state: Pick<State, 'toObject'>
}

/** Each window of a search is wider than the one before by this factor: a rare object's change may be far back. */
const windowGrowth = 4

/** A change without its objects. */
type Note = Pick<StoreChange, 'key' | 'revision' | 'replaces' | 'timeMs' | 'origin'>

function noteOf({ key, revision, replaces, timeMs, origin }: StoreChange): Note {
  return { key, revision, replaces, timeMs, origin }
}

/**
 * Reads the past from the store, including changes before restores, which the state has forgotten. A search begins at the newest change and reads
 * windows of the log that grow. Objects are read only for the returned changes.
 */
export class PastChanges {
  readonly #store: Store
  readonly #state: Pick<State, 'toObject'>

  constructor({ store, state }: PastOptions) {
    this.#store = store
    this.#state = state
  }

  history = async ({ prefix, isKey = false, after, before, limit }: HistoryRequest): Promise<HistoryResponse> => {
    if (limit < 1 || limit > historyChangesMax) throw badRequest(`history: limit must be from 1 to ${historyChangesMax}, not ${limit}`)
    const { revision } = this.#store.status()
    const matches = isKey ? (key: string) => key === prefix : (key: string) => key.startsWith(prefix)
    const found: Note[] = []
    let upTo = Math.min(revision, (before ?? Number.POSITIVE_INFINITY) - 1)
    for (let width = limit + 1; found.length <= limit; width *= windowGrowth) {
      const oldest = Math.max(after, this.#store.status().compacted)
      if (upTo <= oldest) break
      const start = Math.max(oldest, upTo - width)
      found.push(...(await this.#newestOf(this.#pages(start, upTo), matches, limit + 1)))
      upTo = start
    }
    const shown = await this.#shown(found.slice(0, limit))
    const { compacted } = this.#store.status()
    // Objects of a change that was compacted meanwhile would look deleted.
    const changes = shown.changes.filter((change) => change.revision > compacted)
    const hasMore = found.length > limit || !shown.isWhole
    return { changes, revision, compacted, ...(hasMore ? { next: changes.at(-1)?.revision } : {}) }
  }

  revisionAt = async ({ timeMs }: { readonly timeMs: number }): Promise<{ readonly revision: Revision }> => {
    let found: Revision | undefined
    let first: StoreChange | undefined
    const { compacted, revision } = this.#store.status()
    for await (const changes of this.#pages(compacted, revision)) {
      first ??= changes[0]
      for (const change of changes) {
        if (change.timeMs === undefined) continue
        if (change.timeMs > timeMs) return { revision: found ?? this.#before(change) }
        found = change.revision
      }
    }
    if (found !== undefined) return { revision: found }
    throw expired(
      first === undefined
        ? 'no change is held, so that no time is known'
        : 'the times of changes are not known: the store does not note them',
    )
  }

  /** The revision before the first change with a known time, if the store holds the state there. */
  #before({ previous, timeMs = 0 }: StoreChange): Revision {
    const { compacted } = this.#store.status()
    if (previous > compacted || compacted <= firstRevision) return Math.max(previous, compacted)
    throw expired(`the oldest change that is held is of ${new Date(timeMs).toISOString()}`)
  }

  /** The changes after one revision up to another, oldest first. The event loop gets a turn between two pages. */
  async *#pages(after: Revision, upTo: Revision): AsyncGenerator<readonly StoreChange[], void, undefined> {
    for (let last = after; last < upTo; ) {
      const read = await this.#store.history(last, Math.min(limits.storePageRecords, upTo - last))
      if (read.kind === 'compacted') {
        last = read.compacted
        continue
      }
      const end = read.changes.at(-1)?.revision
      if (end === undefined) return
      yield end <= upTo ? read.changes : read.changes.filter(({ revision }) => revision <= upTo)
      last = end
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** The newest matching changes of some pages, newest first, at most `max`. */
  async #newestOf(pages: AsyncIterable<readonly StoreChange[]>, matches: (key: string) => boolean, max: number): Promise<Note[]> {
    let found: Note[] = []
    for await (const changes of pages) {
      for (const change of changes) if (matches(change.key)) found.push(noteOf(change))
      found = found.slice(-max)
    }
    return found.reverse()
  }

  /** Returns the changes with their objects: as many as fit an answer, at least one. */
  async #shown(notes: readonly Note[]): Promise<{ readonly changes: readonly PastChange[]; readonly isWhole: boolean }> {
    const changes: PastChange[] = []
    let bytes = 0
    let turnBytes = 0
    for (const { key, revision, replaces, timeMs, origin } of notes) {
      if (bytes > limits.historyPageBytes) return { changes, isWhole: false }
      if (turnBytes > limits.historyPageBytes / 8) {
        turnBytes = 0
        await new Promise((resolve) => setImmediate(resolve))
      }
      const after = await this.#objectAt(key, revision)
      const before = replaces === 0 ? undefined : await this.#objectAt(key, replaces)
      const size = (after?.length ?? 0) + (before?.length ?? 0)
      bytes += size
      turnBytes += size
      changes.push({
        revision,
        key,
        ...(timeMs === undefined ? {} : { timeMs }),
        ...origin,
        ...(before === undefined ? {} : { before }),
        ...(after === undefined ? {} : { after }),
      })
    }
    return { changes, isWhole: true }
  }

  async #objectAt(key: string, revision: Revision): Promise<Uint8Array | undefined> {
    const record = await this.#store.recordAt(key, revision)
    if (record === undefined) return undefined
    try {
      return jsonOf(this.#state.toObject(key, revision, record.value))
    } catch {
      // As in watches of the past, an undecodable object counts as deleted.
      return undefined
    }
  }
}

/** The revision of an empty store: no change before it has been forgotten. */
const firstRevision = 1
