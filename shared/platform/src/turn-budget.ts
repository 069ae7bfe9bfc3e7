/**
 * Bounds the work per turn of the event loop for all its users, in a unit that they choose, such as bytes. When the budget of a turn is
 * used up, work waits for later turns, in the order of arrival.
 */
export class TurnBudget {
  readonly #max: number
  readonly #firstMax: number
  readonly #waiting: { readonly cost: number; readonly resolve: () => void }[] = []
  #left: number
  #isUsed = false
  #isScheduled = false

  /** `firstMax` is the budget of a turn in which no earlier work waits. */
  constructor(max: number, firstMax = max) {
    this.#max = max
    this.#firstMax = firstMax
    this.#left = firstMax
  }

  /** Takes a part of the budget. Undefined if the budget suffices; otherwise resolves in a later turn. */
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

  /** Counts work whose cost is known only afterwards. It reduces the budget of later callers. */
  spend(cost: number): void {
    this.#left = Math.max(0, this.#left - cost)
    this.#isUsed = true
    this.#schedule()
  }

  /** The number of items of this cost per turn, at least one. */
  timesPerTurn(cost: number): number {
    return Math.max(1, Math.floor(this.#max / cost))
  }

  /** Like `timesPerTurn`, for a turn in which no earlier work waits. */
  timesAtFirst(cost: number): number {
    return Math.max(1, Math.floor(this.#firstMax / cost))
  }

  /** An item that is larger than the budget gets a whole turn. */
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

/** Resolves after so many turns of the event loop. */
export async function passTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}
