import { type Clock, systemClock, type Timer } from '@orch/platform'
import type { Exchange } from './exchange.ts'

/** Time between two writes of one answer: people see no difference, and each write wakes the programs on the way to a page. */
const batchMs = 100
/** Characters that do not wait. */
const batchCharactersMax = 256 * 1024

/** Writes text that comes in many pieces: the first piece at once, and the pieces of each following tenth of a second together. */
export class Batches {
  readonly #exchange: Exchange
  readonly #clock: Clock
  #text = ''
  /** Set for a while after each write. */
  #timer: Timer | undefined

  constructor(exchange: Exchange, clock: Clock = systemClock) {
    this.#exchange = exchange
    this.#clock = clock
    exchange.onClose(() => this.#timer?.cancel())
  }

  /** False: wait for the exchange to be drained before writing more. */
  write(text: string): boolean {
    this.#text += text
    return this.#timer !== undefined && this.#text.length <= batchCharactersMax ? true : this.#flush()
  }

  /** Writes what waits, and ends the answer. */
  end(): void {
    this.#flush()
    this.#exchange.end()
  }

  #flush(): boolean {
    if (this.#text === '' || this.#exchange.isClosed) return true
    const hasRoom = this.#exchange.write(this.#text)
    this.#text = ''
    this.#timer?.cancel()
    this.#timer = this.#clock.after(batchMs, () => {
      this.#timer = undefined
      this.#flush()
    })
    return hasRoom
  }
}
