import { type Clock, systemClock, type WorkCounter } from './clock.ts'

/** Limits for a wait until all work has ended, in real time. */
export interface SettleOptions {
  /** Maximum total wait. */
  readonly withinMs: number
  /** Maximum wait without progress: no work begins and none ends. */
  readonly stillMs: number
  /** Followed work that the wait ignores, usually the caller's own. */
  readonly except?: string
}

/** Consecutive idle turns of the event loop after which the server is quiet. A promise or an event needs one or two turns. */
const quietTurns = 4
/** Number of turns in which a server at rest shows that it is quiet. Other servers of the process may make each of them long. */
const restTurns = 16
/** Number of turns after which the wait no longer polls in every turn, so that other processes can run. */
const spinningTurns = 200

/**
 * The work in progress in this process. Counted work reports its beginning and end; other work is polled.
 *
 *   activity.begin('request')                               // 1 request
 *   activity.follow('watch cache', () => cache.isBehind)    // polled in each turn
 *   await activity.settled(…) → []                          // nothing is in progress
 */
export class Activity implements WorkCounter {
  readonly #counts = new Map<string, number>()
  readonly #followed = new Set<{ readonly what: string; readonly isBusy: () => boolean }>()
  /** The number of pieces of work in progress. */
  #open = 0
  /** The number of beginnings and ends of work. */
  #moves = 0

  begin(what: string): void {
    this.#moves += 1
    this.#open += 1
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
  }

  end(what: string): void {
    this.#moves += 1
    this.#open -= 1
    this.#counts.set(what, (this.#counts.get(what) ?? 0) - 1)
  }

  follow(what: string, isBusy: () => boolean): () => void {
    const followed = { what, isBusy }
    this.#followed.add(followed)
    return () => void this.#followed.delete(followed)
  }

  /** The number of beginnings and ends of work so far. */
  get moves(): number {
    return this.#moves
  }

  /** The names of all work in progress. */
  inProgress(): string[] {
    const names: string[] = []
    for (const [what, count] of this.#counts) if (count > 0) names.push(what)
    for (const { what, isBusy } of this.#followed) if (isBusy()) names.push(what)
    return names
  }

  /** Resolves with an empty list when no work is in progress, or with the names of the remaining work when the wait has reached a limit. */
  async settled({ withinMs, stillMs, except }: SettleOptions): Promise<string[]> {
    const beganMs = systemClock.monotonic()
    let [moves, movedMs, quiet] = [this.#moves, beganMs, 0]
    for (let turns = 0; ; turns += 1) {
      await (turns < spinningTurns ? turnEnd() : new Promise((resolve) => setTimeout(resolve, 1)))
      const isBusy = this.#isBusy(except)
      quiet = !isBusy && moves === this.#moves ? quiet + 1 : 0
      if (quiet === quietTurns) return []
      const nowMs = systemClock.monotonic()
      if (moves !== this.#moves) [moves, movedMs] = [this.#moves, nowMs]
      if (nowMs - beganMs > withinMs) return isBusy ? this.inProgress() : ['work that begins again and again']
      if (isBusy && nowMs - movedMs > stillMs) return this.inProgress()
    }
  }

  /** True if the server is quiet now. A position or another short task takes a few turns; a busy server is not awaited. */
  async isAtRest(): Promise<boolean> {
    let [moves, quiet] = [this.#moves, 0]
    for (let turns = 0; turns < restTurns && quiet < quietTurns; turns += 1) {
      await turnEnd()
      quiet = !this.#isBusy() && moves === this.#moves ? quiet + 1 : 0
      moves = this.#moves
    }
    return quiet === quietTurns
  }

  #isBusy(except?: string): boolean {
    if (this.#open > 0) return true
    for (const { what, isBusy } of this.#followed) if (what !== except && isBusy()) return true
    return false
  }
}

// A test may replace the timers of its process; a wait in real time needs the original ones.
const { setImmediate, setTimeout } = globalThis

function turnEnd(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** The clock of a server, combined with the counter of the server's work. */
export function withActivity(clock: Clock): { readonly clock: Clock; readonly activity: Activity } {
  if (clock.work instanceof Activity) return { clock, activity: clock.work }
  const activity = new Activity()
  const { isVirtual = false } = clock
  const counting: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (delayMs, callback, options) => clock.after(delayMs, callback, options),
    every: (intervalMs, callback) => clock.every(intervalMs, callback),
    work: activity,
    isVirtual,
  }
  return { clock: counting, activity }
}
