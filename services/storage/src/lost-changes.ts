import type { Revision } from '@orch/core/meta'
import { compareWithStore } from './audit.ts'
import type { Commits, CommitsOptions } from './commits.ts'
import { auditDelayMs } from './limits.ts'

/** The dependencies of the search for changes that memory has missed. */
export interface LostChangesOptions extends Pick<CommitsOptions, 'store' | 'state' | 'clock'> {
  readonly commits: Commits
  readonly onError: (error: unknown) => void
}

/** After each compaction, compares memory with a store that may lose changes at the compaction. */
export class LostChanges {
  readonly #options: LostChangesOptions
  /** The compaction after which memory was last compared with the store, or is about to be. */
  #audited: Revision
  #timer: { cancel(): void } | undefined

  constructor(options: LostChangesOptions) {
    this.#options = options
    this.#audited = options.state.compacted
  }

  /** The owner calls this when the state has changed. */
  auditSoon(): void {
    const { state, clock, onError } = this.#options
    const { compacted } = state
    if (compacted <= this.#audited) return
    this.#audited = compacted
    this.#timer?.cancel()
    this.#timer = clock.after(auditDelayMs, () => void this.#audit().catch(onError), { background: true })
  }

  close(): void {
    this.#timer?.cancel()
  }

  /** Writes a missed change once more, so that every reader receives it as a change. */
  async #audit(): Promise<void> {
    const { store, state, commits, onError } = this.#options
    if (store.shared === undefined || state.loading !== undefined) return
    const { changed, gone } = await compareWithStore(state, store.shared)
    for (const { key, revision } of changed) {
      const record = await store.getAt(key, state.revision)
      if (record?.revision === revision) await commits.writeAgain(state.toObject(key, revision, record.value), revision)
    }
    for (const object of gone) {
      const outcome = await commits.writeAgain(object, 0)
      if (outcome.kind === 'written') await commits.remove(object.key, outcome.revision)
    }
    if (changed.length + gone.length > 0) onError(new Error(`${changed.length + gone.length} changes were not delivered`))
  }
}
