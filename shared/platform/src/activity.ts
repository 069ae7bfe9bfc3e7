import { type Clock, systemClock, type WorkCounter } from './clock.ts'

/** The bounds of a wait for the end of work; both in real time. */
export interface SettleOptions {
  /** Longest wait in all. */
  readonly withinMs: number
  /** Longest wait for work that makes no progress: nothing begins and nothing ends. */
  readonly stillMs: number
  /** Work that is followed and not waited for: the caller's own. */
  readonly except?: string
}

/** Consecutive idle turns of the event loop after which the server is quiet. A promise or an event needs one or two turns. */
const quietTurns = 4
/** Turns after which a wait no longer asks in each turn, so that other processes have the processor. */
const spinningTurns = 200

/**
 * The work in progress in this process. Work that can be counted begins and ends; state that can be compared is asked for.
 *
 *   activity.begin('request')                               // 1 request
 *   activity.follow('watch cache', () => cache.isBehind)    // asked in each turn
 *   await activity.settled(…) → []                          // nothing is in progress
 */
export class Activity implements WorkCounter {
  readonly #counts = new Map<string, number>()
  readonly #followed = new Set<{ readonly what: string; readonly isBusy: () => boolean }>()
  /** Work that has begun and not ended. */
  #open = 0
  /** Times that work has begun or ended. */
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

  /** Times that work has begun or ended so far. */
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

  /** Resolves with no name when nothing is in progress any more, else with the names of the work that the wait was given up for. */
  async settled({ withinMs, stillMs, except }: SettleOptions): Promise<string[]> {
    const beganMs = systemClock.monotonic()
    let [moves, movedMs, quiet] = [this.#moves, beganMs, 0]
    for (let turns = 0; ; turns += 1) {
      await (turns < spinningTurns ? turnEnd() : pause())
      const isBusy = this.#isBusy(except)
      quiet = !isBusy && moves === this.#moves ? quiet + 1 : 0
      if (quiet === quietTurns) return []
      const nowMs = systemClock.monotonic()
      if (moves !== this.#moves) [moves, movedMs] = [this.#moves, nowMs]
      if (nowMs - beganMs > withinMs) return isBusy ? this.inProgress() : ['work that begins again and again']
      if (isBusy && nowMs - movedMs > stillMs) return this.inProgress()
    }
  }

  #isBusy(except: string | undefined): boolean {
    if (this.#open > 0) return true
    for (const { what, isBusy } of this.#followed) if (what !== except && isBusy()) return true
    return false
  }
}

// A test may replace the timers of its process; a wait in real time uses the original ones.
const { setImmediate, setTimeout } = globalThis

function turnEnd(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1))
}

/** The clock of a server, and the work that the server counts with it. */
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
