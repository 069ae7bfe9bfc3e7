/** Seconds for which nodes cache objects, by the number of nodes. The steps overlap, so that a small change in size does not change the step back and forth. */
const steps = [
  { min: 0, max: 100, seconds: 0 },
  { min: 90, max: 500, seconds: 15 },
  { min: 450, max: 1_000, seconds: 30 },
  { min: 900, max: 2_000, seconds: 60 },
  { min: 1_800, max: Number.POSITIVE_INFINITY, seconds: 300 },
] as const

/** The cache time of a cluster to which nodes are added and from which they are removed one by one (WL-NODE-13). */
export class NodeTtl {
  #nodes = 0
  #step = 0

  get seconds(): number {
    return steps[this.#step]?.seconds ?? 0
  }

  add(): void {
    this.#nodes += 1
    if (this.#nodes > (steps[this.#step]?.max ?? 0)) this.#step += 1
  }

  remove(): void {
    this.#nodes -= 1
    if (this.#nodes < (steps[this.#step]?.min ?? 0)) this.#step -= 1
  }
}
