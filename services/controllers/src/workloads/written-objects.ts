import type { InformerEvent } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { keyOf, revisionOf } from '../informers/object-keys.ts'

/** Objects as written by a controller, until its cache shows them: no decision is based on a state before its own writes. */
export class WrittenObjects<T extends ApiObject> {
  readonly #written = new Map<string, T>()

  /** The newer of the cached and the written object. Undefined if it is not cached. */
  newest(cached: T | undefined): T | undefined {
    return cached && (this.#written.get(keyOf(cached)) ?? cached)
  }

  /** Stores the answer to a write, unless the cache shows it already. */
  keep(answer: T, cached: T | undefined): void {
    if (cached !== undefined && revisionOf(cached) < revisionOf(answer)) this.#written.set(keyOf(answer), answer)
  }

  /** Must be called with each event of the cache. */
  applyEvent({ kind, object }: InformerEvent<T>): void {
    const written = this.#written.get(keyOf(object))
    if (written !== undefined && (kind === 'deleted' || revisionOf(object) >= revisionOf(written))) this.#written.delete(keyOf(object))
  }
}
