import { RecentMap } from '@orch/core/memo'
import type { Clock } from './clock.ts'

/** A map of values with a lifetime. A full map drops the oldest. */
export class ExpiringMap<V> {
  readonly #entries: RecentMap<{ readonly value: V; readonly untilMs: number }>
  readonly #clock: Pick<Clock, 'monotonic'>

  constructor(max: number, clock: Pick<Clock, 'monotonic'>) {
    this.#entries = new RecentMap(max)
    this.#clock = clock
  }

  /** The value and its remaining time; undefined if it is absent or has expired. */
  get(key: string): { readonly value: V; readonly leftMs: number } | undefined {
    const known = this.#entries.get(key)
    const leftMs = (known?.untilMs ?? 0) - this.#clock.monotonic()
    if (known !== undefined && leftMs > 0) return { value: known.value, leftMs }
    this.#entries.delete(key)
    return undefined
  }

  /** Replaces the value of a key. A lifetime of 0 stores nothing. */
  set(key: string, value: V, lifeMs: number): void {
    if (lifeMs <= 0) this.#entries.delete(key)
    else this.#entries.set(key, { value, untilMs: this.#clock.monotonic() + lifeMs })
  }
}
