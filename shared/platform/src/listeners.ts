/** The listeners to one event, in the order in which they came. */
export class Listeners<T = void> {
  /** Undefined before the first listener: servers of tests have many events without one. */
  #all: Set<(value: T) => void> | undefined

  /** Returns a function that removes the listener. */
  add(listener: (value: T) => void): () => void {
    this.#all ??= new Set()
    this.#all.add(listener)
    return () => void this.#all?.delete(listener)
  }

  call(value: T): void {
    for (const listener of this.#all ?? []) listener(value)
  }

  clear(): void {
    this.#all?.clear()
  }
}
