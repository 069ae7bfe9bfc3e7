/**
 * Bounds what is done in one turn of the event loop by all who share it, in units of theirs, such as bytes. Those who find the turn
 * used up wait for later ones, in the order in which they have come.
 */
export class TurnBudget {
  readonly #max: number
  readonly #waiting: { readonly cost: number; readonly resolve: () => void }[] = []
  #left: number
  #isScheduled = false

  constructor(max: number) {
    this.#max = max
    this.#left = max
  }

  /** Takes room for some work. Undefined: it is there; else resolves in the turn in which it has been taken. */
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

  /** Counts work that has been done, where its cost is known only afterwards. Who comes next finds that much less room. */
  spend(cost: number): void {
    this.#left = Math.max(0, this.#left - cost)
    this.#schedule()
  }

  /** How often something of this cost fits one turn: at least once. */
  timesPerTurn(cost: number): number {
    return Math.max(1, Math.floor(this.#max / cost))
  }

  /** What is larger than a turn's room has a turn of its own. */
  #fits(cost: number): boolean {
    return cost <= this.#left || this.#left === this.#max
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#next)
  }

  #next = (): void => {
    this.#isScheduled = false
    this.#left = this.#max
    for (let first = this.#waiting[0]; first !== undefined && this.#fits(first.cost); first = this.#waiting[0]) {
      this.#waiting.shift()
      this.spend(first.cost)
      first.resolve()
    }
  }
}
