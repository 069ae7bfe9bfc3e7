/** Releases the lock; the next writer continues. */
export type Release = () => void

/**
 * Locks for writers that met at the same object: one after the other, in the order in which
 * they asked, so that a crowd of patches needs one attempt each and not one for every other.
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>()

  /** Number of locked keys. */
  get size(): number {
    return this.#last.size
  }

  /** Resolves when earlier callers are done, or with undefined when `givenUp` comes first. */
  async take(key: string, givenUp: Promise<unknown>): Promise<Release | undefined> {
    const before = this.#last.get(key)
    const { promise: mine, resolve } = Promise.withResolvers<void>()
    this.#last.set(key, mine)
    const end = () => {
      if (this.#last.get(key) === mine) this.#last.delete(key)
      resolve()
    }
    if (before === undefined) return end
    const isMine = await Promise.race([before.then(() => true), givenUp.then(() => false)])
    if (isMine) return end
    // Later waiters still wait for those before.
    void before.then(end)
    return undefined
  }
}
