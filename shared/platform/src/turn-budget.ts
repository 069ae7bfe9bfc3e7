/**
 * Bounds the work of one turn of the event loop over all its sharers, in units of theirs, such as bytes. Work that finds the turn
 * used up waits for later ones, in the order of arrival.
 */
export class TurnBudget {
  readonly #max: number
  readonly #firstMax: number
  readonly #waiting: { readonly cost: number; readonly resolve: () => void }[] = []
  #left: number
  #isUsed = false
  #isScheduled = false

  /** `firstMax` is the budget of a turn that begins without waiting work. */
  constructor(max: number, firstMax = max) {
    this.#max = max
    this.#firstMax = firstMax
    this.#left = firstMax
  }

  /** Takes a part of the budget. Undefined: it was left; else resolves in the turn that has it. */
  take(cost: number): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#fits(cost)) {
      this.spend(cost)
      return undefined
    }
    return new Promise((resolve) => {
      this.#waiting.push({ cost, resolve })
      this.#schedule()
    })
  }

  /** Counts work whose cost is known only afterwards. The next caller finds that much less room. */
  spend(cost: number): void {
    this.#left = Math.max(0, this.#left - cost)
    this.#isUsed = true
    this.#schedule()
  }

  /** Number of items of this cost in one turn: at least one. */
  timesPerTurn(cost: number): number {
    return Math.max(1, Math.floor(this.#max / cost))
  }

  /** The same of a turn into which no work was carried over. */
  timesAtFirst(cost: number): number {
    return Math.max(1, Math.floor(this.#firstMax / cost))
  }

  /** An item larger than a turn's room has a turn of its own. */
  #fits(cost: number): boolean {
    return cost <= this.#left || !this.#isUsed
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#next)
  }

  #next = (): void => {
    this.#isScheduled = false
    this.#left = this.#waiting.length > 0 ? this.#max : this.#firstMax
    this.#isUsed = false
    for (let first = this.#waiting[0]; first !== undefined && this.#fits(first.cost); first = this.#waiting[0]) {
      this.#waiting.shift()
      this.spend(first.cost)
      first.resolve()
    }
  }
}
