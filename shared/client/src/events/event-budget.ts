/** Normal events about Pods: so many at once, and so many more each second. A large rollout shows those of its first Pods. */
const burst = 300
const perSecond = 50

/** Bounds the normal events of one source that grow with the number of Pods, such as all simulated nodes, or the scheduler. */
export class EventBudget {
  #left = burst
  #atMs = 0

  /** False if the limit is exceeded. */
  take(nowMs: number): boolean {
    const refilled = (Math.max(0, nowMs - this.#atMs) / 1000) * perSecond
    this.#left = Math.min(burst, this.#left + refilled)
    this.#atMs = nowMs
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }
}
