import type { Store } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { type Clock, sleep } from '@orch/platform'
import { packedPerTurn, packingDelayMs } from './limits.ts'
import type { Happened, History } from './memory/history.ts'

/** The dependencies of a packer. */
interface PastPackerOptions {
  /** The state whose past is packed. */
  readonly state: {
    readonly history: Pick<History, 'unpacked'>
    readonly revision: Revision
    readonly followers: { onPacked?(bytes: number, revision: Revision): void }
  }
  readonly store: Pick<Store, 'pack'>
  /** The bytes that may wait. */
  readonly bytesMax: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Packs past objects when too many bytes wait or while no writes happen. Packing costs a tenth of a write, and most test servers end before it
 * starts.
 */
export class PastPacker {
  readonly #options: PastPackerOptions
  #isWaiting = false

  constructor(options: PastPackerOptions) {
    this.#options = options
  }

  /** Lets the packer pack the object that a change has superseded. */
  readonly add = ({ change, before, after }: Happened): void => {
    if (before === undefined) return
    const { state, bytesMax } = this.#options
    const { unpacked } = state.history
    const { revision, length: bytes } = before
    unpacked.add({ revision, supersededAt: change.revision, isDeleted: after === undefined, bytes })
    while (unpacked.bytes > bytesMax) this.#packOldest()
    if (!this.#isWaiting && unpacked.bytes > 0) void this.#packAtRest()
  }

  /** False if no object waits. */
  #packOldest(): boolean {
    const { state, store } = this.#options
    const object = state.history.unpacked.take()
    if (object === undefined) return false
    const { revision, supersededAt, isDeleted, bytes } = object
    const packed = store.pack?.(revision, isDeleted ? undefined : supersededAt)
    if (packed !== undefined) state.followers.onPacked?.(bytes - packed, supersededAt)
    return true
  }

  /** Packs waiting objects, some in each turn, while no write happens. */
  async #packAtRest(): Promise<void> {
    const { state, clock, signal } = this.#options
    this.#isWaiting = true
    while (state.history.unpacked.bytes > 0 && !signal.aborted) {
      const { revision } = state
      await sleep(clock, packingDelayMs, signal, { background: true })
      while (revision === state.revision && !signal.aborted) {
        let count = 0
        while (count < packedPerTurn && this.#packOldest()) count++
        if (count < packedPerTurn) break
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    this.#isWaiting = false
  }
}
