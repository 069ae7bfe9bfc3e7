/**
 * Calls back when a connection has been idle for a while. `close` releases the connection. `Http2Session.setTimeout` is not used: it keeps the
 * timer of a destroyed session until it is due, and with it everything that the session refers to.
 */
export class IdleTimer {
  readonly #timer: NodeJS.Timeout
  #users = 0

  constructor(idleMs: number, onIdle: () => void) {
    this.#timer = setTimeout(() => {
      if (this.#users === 0) onIdle()
    }, idleMs).unref()
  }

  get users(): number {
    return this.#users
  }

  begin(): void {
    this.#users += 1
  }

  /** Ends one use; the idle time counts from the last end. */
  readonly end = (): void => {
    this.#users -= 1
    if (this.#users === 0) this.#timer.refresh()
  }

  close(): void {
    clearTimeout(this.#timer)
  }
}
