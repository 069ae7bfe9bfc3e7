/** A map that drops the least recently set entry when it is full. */
export class RecentMap<V> {
  readonly #max: number
  readonly #entries = new Map<string, V>()

  constructor(max: number) {
    this.#max = max
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)
  }

  set(key: string, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#max) return
    const [oldest = ''] = this.#entries.keys()
    this.#entries.delete(oldest)
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }
}
