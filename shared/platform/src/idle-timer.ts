/**
 * Calls back when a connection has carried nothing for a while. `close` releases the connection: `Http2Session.setTimeout` keeps the
 * timer of a destroyed session until it is due, and with the timer everything that the session refers to.
 */
export class IdleTimer {
  readonly #timer: NodeJS.Timeout
  #users = 0

  constructor(idleMs: number, onIdle: () => void) {
    this.#timer = setTimeout(() => {
      if (this.#users === 0) onIdle()
    }, idleMs).unref()
  }

  /** The number of users that have begun and not ended. */
  get users(): number {
    return this.#users
  }

  begin(): void {
    this.#users += 1
  }

  /** The pause is counted from the last end on. */
  readonly end = (): void => {
    this.#users -= 1
    if (this.#users === 0) this.#timer.refresh()
  }

  close(): void {
    clearTimeout(this.#timer)
  }
}
