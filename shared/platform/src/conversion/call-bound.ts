import type { Clock, Timer } from '../clock.ts'

interface Waiter {
  readonly begin: () => void
  readonly timer: Timer
}

interface Place {
  running: number
  readonly waiting: Waiter[]
}

/** Bounds the calls in progress per name. Further calls wait in the order of their arrival. */
export class CallBound {
  readonly #max: number
  readonly #clock: Clock
  readonly #places = new Map<string, Place>()

  constructor(max: number, clock: Clock) {
    this.#max = max
    this.#clock = clock
  }

  /** Resolves when the call may begin, with a function to call at its end; undefined after `waitMs`. */
  take(name: string, waitMs: number): Promise<(() => void) | undefined> {
    const place = this.#places.get(name) ?? { running: 0, waiting: [] }
    this.#places.set(name, place)
    const end = () => this.#end(name, place)
    if (place.running < this.#max) {
      place.running += 1
      return Promise.resolve(end)
    }
    return new Promise((resolve) => {
      const waiter: Waiter = {
        begin: () => resolve(end),
        timer: this.#clock.after(waitMs, () => {
          place.waiting.splice(place.waiting.indexOf(waiter), 1)
          resolve(undefined)
        }),
      }
      place.waiting.push(waiter)
    })
  }

  #end(name: string, place: Place): void {
    const next = place.waiting.shift()
    if (next !== undefined) {
      next.timer.cancel()
      next.begin()
      return
    }
    place.running -= 1
    if (place.running === 0) this.#places.delete(name)
  }
}
