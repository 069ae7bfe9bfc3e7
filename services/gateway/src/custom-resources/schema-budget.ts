import type { Preparable } from '@orch/core/catalogue'
import type { Pace } from '../request/pace.ts'

/** The budget of schemas, and their work per turn. */
export interface SchemaParts {
  readonly schemas: SchemaBudget
  readonly pace: Pace
}

interface Kept {
  bytes: number
  /** Requests and watches that use it, during which it is not dropped. */
  holds: number
  /** Its definition was changed or deleted. */
  isDropped?: true
}

/**
 * Readers of custom resources' schemas, within a budget of bytes. The least recently used is dropped first, and built again at its next use.
 *
 *   budget 100:   use a (60), use b (30), use c (40) → a is dropped   use a → b and c are dropped as far as needed
 */
export class SchemaBudget {
  readonly #bytesMax: number
  /** In the order of their last use. */
  readonly #kept = new Map<Preparable, Kept>()
  readonly #preparing = new Map<Preparable, Promise<void>>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Bytes of all cached items. */
  get bytes(): number {
    return this.#bytes
  }

  /** Records that an item of this size was built. */
  made(preparable: Preparable, bytes: number): void {
    const kept = this.#kept.get(preparable) ?? { bytes: 0, holds: 0 }
    this.#bytes += bytes - kept.bytes
    kept.bytes = bytes
    this.#kept.set(preparable, kept)
    this.#makeRoom()
  }

  /** Holds an item until the returned function is called. */
  hold(preparable: Preparable): () => void {
    const kept = this.#kept.get(preparable) ?? { bytes: 0, holds: 0 }
    this.#kept.delete(preparable)
    this.#kept.set(preparable, kept)
    kept.holds += 1
    return () => {
      kept.holds -= 1
      if (kept.bytes === 0 && kept.holds === 0 && this.#kept.get(preparable) === kept) this.#kept.delete(preparable)
      if (kept.isDropped && kept.holds === 0 && !this.#kept.has(preparable)) preparable.forget()
      this.#makeRoom()
    }
  }

  /** Drops the schema of a changed or deleted definition once no request uses it, as other caches may still refer to its resource. */
  drop(preparable: Preparable): void {
    const kept = this.#kept.get(preparable)
    if (kept === undefined) return
    this.#bytes -= kept.bytes
    this.#kept.delete(preparable)
    kept.isDropped = true
    if (kept.holds === 0) preparable.forget()
  }

  /** Builds a missing item, once for all callers; undefined if it is present. */
  prepare(preparable: Preparable, pace: Pace): Promise<void> | undefined {
    if (preparable.isReady) return undefined
    const under = this.#preparing.get(preparable)
    if (under !== undefined) return under
    const made = pace.runBriefly(preparable.prepare())
    if (made === undefined) return undefined
    const ended = made.finally(() => this.#preparing.delete(preparable))
    this.#preparing.set(preparable, ended)
    return ended
  }

  #makeRoom(): void {
    if (this.#bytes <= this.#bytesMax) return
    for (const [preparable, { bytes, holds }] of this.#kept) {
      if (this.#bytes <= this.#bytesMax) return
      if (holds > 0) continue
      this.#kept.delete(preparable)
      this.#bytes -= bytes
      preparable.forget()
    }
  }
}
