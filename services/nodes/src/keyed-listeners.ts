import { getOrMake } from '@orch/core/memo'
/** Listeners to the changes of Pods. */
export class KeyedListeners {
  readonly #listeners = new Map<string, Set<() => void>>()

  listen(key: string, listener: () => void): () => void {
    const listeners = getOrMake(this.#listeners, key, () => new Set())
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key)
    }
  }

  notifyAll(): void {
    for (const key of [...this.#listeners.keys()]) this.notify(key)
  }

  notify(key: string): void {
    for (const listener of [...(this.#listeners.get(key) ?? [])]) listener()
  }
}
