import type { Revision } from '@orch/core/meta'

/**
 * Bounds the bytes of superseded objects that a store in memory holds. It counts them in two halves; when the young half is
 * full, the old one may go.
 *
 *   room for 100   +30 at 5, +30 at 6 → half full, boundary 6   +60 at 9 → forget up to 6, boundary 9
 */
export class PastBudget {
  readonly #halfBytes: number
  #youngBytes = 0
  /** The old half lies at and below it. */
  #boundary: Revision

  constructor({ bytesMax, revision }: { readonly bytesMax: number; readonly revision: Revision }) {
    this.#halfBytes = bytesMax / 2
    this.#boundary = revision
  }

  /** Counts what a change superseded. Gives the revision up to which the past is to be forgotten, where there is too much of it. */
  add(bytes: number, revision: Revision): Revision | undefined {
    this.#youngBytes += bytes
    if (this.#youngBytes <= this.#halfBytes) return undefined
    const forgotten = this.#boundary
    this.#boundary = revision
    this.#youngBytes = 0
    return forgotten
  }
}
