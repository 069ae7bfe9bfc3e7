/**
 * The nodes of a zone that wait for a NoExecute taint, at a limited rate. The first one does not wait (NODE-LC-12). A node is taken
 * only once until it is removed. Times are monotonic milliseconds.
 *
 *   0.1 nodes a second; add a, b    take(0) → a    take(0) → undefined    waitMs(0) → 10,000    take(10,000) → b
 */
export class TaintQueue {
  readonly #waiting: string[] = []
  readonly #known = new Set<string>()
  #perSecond: number
  #tokens = 1
  #atMs: number

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond
    this.#atMs = nowMs
  }

  add(node: string): void {
    if (this.#known.has(node)) return
    this.#known.add(node)
    this.#waiting.push(node)
  }

  /** Makes a node the next one again, because its taint could not be set. */
  putBack(node: string): void {
    if (this.#known.has(node)) this.#waiting.unshift(node)
  }

  remove(node: string): void {
    if (!this.#known.delete(node)) return
    const at = this.#waiting.indexOf(node)
    if (at >= 0) this.#waiting.splice(at, 1)
  }

  /** A new rate restarts the wait. */
  setRate(perSecond: number, nowMs: number): void {
    if (perSecond === this.#perSecond) return
    this.#refill(nowMs)
    this.#tokens = this.#perSecond > 0 && this.#tokens >= 1 ? 1 : 0
    this.#perSecond = perSecond
  }

  /** The next node; undefined if none waits or its time has not come. */
  take(nowMs: number): string | undefined {
    if (this.waitMs(nowMs) !== 0) return undefined
    this.#tokens -= 1
    return this.#waiting.shift()
  }

  /** The time until the next node may be taken; undefined if none waits or the rate is 0. */
  waitMs(nowMs: number): number | undefined {
    if (this.#waiting.length === 0 || this.#perSecond <= 0) return undefined
    this.#refill(nowMs)
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) / this.#perSecond) * 1000)
  }

  #refill(nowMs: number): void {
    this.#tokens = Math.min(1, this.#tokens + ((nowMs - this.#atMs) / 1000) * this.#perSecond)
    this.#atMs = nowMs
  }
}
