/**
 * The nodes of a zone that wait for a taint NoExecute, at a limited rate. The first one need not wait (NODE-LC-12). A node that was taken
 * is not taken again until it is removed. Times are monotonic milliseconds.
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

  /** A taint could not be set: the node is the next again. */
  putBack(node: string): void {
    if (this.#known.has(node)) this.#waiting.unshift(node)
  }

  remove(node: string): void {
    if (!this.#known.delete(node)) return
    const at = this.#waiting.indexOf(node)
    if (at >= 0) this.#waiting.splice(at, 1)
  }

  /** At another rate a wait begins anew. */
  setRate(perSecond: number, nowMs: number): void {
    if (perSecond === this.#perSecond) return
    this.#refill(nowMs)
    this.#tokens = this.#perSecond > 0 && this.#tokens >= 1 ? 1 : 0
    this.#perSecond = perSecond
  }

  /** Undefined: no node waits, or it is not time yet. */
  take(nowMs: number): string | undefined {
    if (this.waitMs(nowMs) !== 0) return undefined
    this.#tokens -= 1
    return this.#waiting.shift()
  }

  /** Time until the next node may be taken. Undefined: none waits, or none is taken at this rate. */
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
