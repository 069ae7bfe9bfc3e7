import { type ChangeMessage, revisionOfMessage } from '@orch/core/contracts'
import { type Clock, type Log, retryDelayMs, sleep, type Timer } from '@orch/platform'
import type { ChangeStream } from '@orch/platform/nats'
import type { ChangeSourceLimits } from './limits.ts'

/** Receives every message in order, and the news that there may be none for a while. */
export interface LiveListener {
  onMessage(message: ChangeMessage, bytes: number): void
  onSilence(): void
}

export interface LiveOptions {
  /** The owner closes it after the change source. */
  readonly stream: ChangeStream
  readonly clock: Clock
  readonly log: Log
  /** From 0 to 1; spreads the attempts to follow the stream. */
  readonly random: () => number
  readonly limits: ChangeSourceLimits
  /** Receives the time that changes took, as far as the clocks agree. */
  readonly onDelay: (delayMs: number) => void
}

/** The published stream and its position; follows the stream anew whenever it ends or falls silent. */
export class Live {
  readonly #options: LiveOptions
  readonly #listeners = new Set<LiveListener>()
  readonly #closing = new AbortController()
  readonly #timer: Timer
  #current: { end(error: unknown): void } | undefined
  #heardAtMs: number
  #isHeard = false
  #epoch = ''
  #lastChange = 0
  #revision = 0
  #required = 0

  constructor(options: LiveOptions) {
    this.#options = options
    this.#heardAtMs = options.clock.monotonic()
    this.#timer = options.clock.every(options.limits.checkIntervalMs, () => this.#check())
    void this.#run()
  }

  /** The last revision that has arrived or been announced. */
  get revision(): number {
    return this.#revision
  }

  get epoch(): string {
    return this.#epoch
  }

  /** A publisher is active and has reached the required revision. */
  get isUsable(): boolean {
    return this.#isHeard && this.#revision >= this.#required
  }

  /** A reader at this revision has missed none of the received changes. */
  isReachedFrom(revision: number, epoch: string): boolean {
    return this.isUsable && this.#epoch === epoch && this.#lastChange <= revision
  }

  /** The stream is useless before it has reached this revision. */
  require(revision: number): void {
    this.#required = Math.max(this.#required, revision)
    this.#reportSilence()
  }

  listen(listener: LiveListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  close(): void {
    this.#closing.abort()
    this.#timer.cancel()
    this.#current?.end(undefined)
  }

  async #run(): Promise<void> {
    const { clock, log, random, limits } = this.#options
    const { signal } = this.#closing
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const delayMs = retryDelayMs({ attempt, maxMs: limits.retryDelayMsMax, random: random() })
      if (attempt > 0) await sleep(clock, delayMs, signal)
      try {
        await this.#follow(() => {
          attempt = 0
        })
      } catch (error) {
        if (!signal.aborted) log.debug({ err: error, attempt }, 'the change stream cannot be read')
      }
    }
  }

  /** Until the stream ends. */
  async #follow(onHeard: () => void): Promise<void> {
    const { promise: ended, reject } = Promise.withResolvers<never>()
    const end = (error: unknown) => {
      this.#silence()
      reject(error)
    }
    // The stream may end before a caller waits for the end.
    ended.catch(() => {})
    this.#heardAtMs = this.#options.clock.monotonic()
    const stop = await this.#options.stream.follow({
      onMessage: (message, bytes) => {
        onHeard()
        this.#receive(message, bytes)
      },
      onEnd: end,
    })
    this.#current = { end }
    if (this.#closing.signal.aborted) end(undefined)
    try {
      await ended
    } finally {
      this.#current = undefined
      stop()
    }
  }

  #receive(message: ChangeMessage, bytes: number): void {
    this.#heardAtMs = this.#options.clock.monotonic()
    if (message.epoch !== this.#epoch) {
      this.#epoch = message.epoch
      this.#revision = 0
      this.#required = 0
    }
    // The last position counts, not the highest: the next change reaches a reader there.
    this.#lastChange = message.kind === 'position' ? message.last : revisionOfMessage(message)
    this.#revision = Math.max(this.#revision, revisionOfMessage(message))
    this.#isHeard = true
    if (message.kind === 'changes') this.#options.onDelay(Math.max(0, this.#options.clock.now() - message.publishedMs))
    for (const listener of this.#listeners) listener.onMessage(message, bytes)
  }

  #check(): void {
    const { clock, limits } = this.#options
    const silenceMs = clock.monotonic() - this.#heardAtMs
    if (silenceMs > limits.silenceMsMax) this.#silence()
    if (silenceMs > limits.reopenAfterMs) this.#current?.end(new Error(`nothing was published for ${silenceMs} ms`))
  }

  #silence(): void {
    if (!this.#isHeard) return
    this.#isHeard = false
    this.#reportSilence()
  }

  #reportSilence(): void {
    for (const listener of this.#listeners) listener.onSilence()
  }
}
