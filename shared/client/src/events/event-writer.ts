import { checkSubdomain, StatusError } from '@orch/core/meta'

/**
 * Maximum number of events that are sent together: some milliseconds of the event loop. Each costs less than half of an event that is sent alone,
 * because each step of the write runs for all of them in sequence.
 */
const groupMax = 32
/** Bounds as in client-go: events that wait, attempts to reach the server, and the pause between them. */
const waitingMax = 1000
const attemptsMax = 12
const retryMs = 10_000
/** Maximum length of an Event's name, in characters. */
const nameLengthMax = 253

export interface EventWriterOptions {
  /** Waits between attempts; resolves early when the signal is raised. */
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>
  /** A number in [0, 1). */
  readonly random: () => number
  /** Bounds the events in one turn of the event loop. Promises resolve when events may be sent. */
  readonly turns: {
    /** Resolves when the first of several events may be sent. */
    first(): Promise<void> | undefined
    take(count: number): Promise<void> | undefined
  }
  readonly log: Record<'debug' | 'warn', (fields: Readonly<Record<string, unknown>>, message: string) => void>
  readonly signal: AbortSignal
}

interface WaitingEvent {
  /** The name of the Event object. */
  readonly name: string
  write(): Promise<void>
}

/**
 * Sends events in groups, one after the other. A group has at most one write of each Event. Events are best effort: a failed write is logged and
 * otherwise ignored. With 1000 events waiting, further events are dropped.
 */
export class EventWriter {
  readonly #options: EventWriterOptions
  readonly #waiting: WaitingEvent[] = []
  #droppedCount = 0
  #writing: Promise<void> | undefined

  constructor(options: EventWriterOptions) {
    this.#options = options
  }

  /** False if no more events are written or too many wait. Drops are logged each time that their number has doubled. */
  hasRoom(reason: string): boolean {
    const { log, signal } = this.#options
    if (signal.aborted) return false
    if (this.#waiting.length < waitingMax) return true
    this.#droppedCount += 1
    if (Number.isInteger(Math.log2(this.#droppedCount))) {
      log.warn({ reason, dropped: this.#droppedCount }, 'an event was dropped: too many are waiting')
    }
    return false
  }

  /** Sends an event with or after all earlier events. */
  write({ name, reason }: { readonly name: string; readonly reason: string }, send: () => Promise<void>): void {
    this.#waiting.push({ name, write: () => this.#writeOne(reason, send) })
    this.#writing ??= this.#writeAll()
  }

  /** Resolves when no event waits. */
  async settled(): Promise<void> {
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    const { signal, turns } = this.#options
    await turns.first()
    while (this.#waiting.length > 0 && !signal.aborted) {
      const group = this.#takeGroup()
      await turns.take(group.length)
      await Promise.all(group.map(({ write }) => write()))
    }
    this.#writing = undefined
  }

  #takeGroup(): WaitingEvent[] {
    const names = new Set<string>()
    const end = this.#waiting.findIndex(({ name }) => names.size === groupMax || names.size === names.add(name).size)
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end)
  }

  /** A refusal is final; the request is repeated while the server is unreachable. */
  async #writeOne(reason: string, send: () => Promise<void>): Promise<void> {
    const { sleep, random, log, signal } = this.#options
    for (let attempt = 1; ; attempt++) {
      try {
        return await send()
      } catch (err) {
        const isFinal = err instanceof StatusError || attempt === attemptsMax
        if (isFinal || signal.aborted) return void log.debug({ err, reason }, 'an event could not be written')
        await sleep(attempt === 1 ? retryMs * random() : retryMs, signal)
      }
    }
  }
}

/** The beginning of the object's name and the time in nanoseconds; only the time if the name is not valid for an Event. */
export function eventNameOf({ name }: { readonly name: string }, nowMs: number, random: () => number): string {
  const nanoseconds = (BigInt(Math.trunc(nowMs)) * 1_000_000n + BigInt(Math.floor(random() * 1_000_000))).toString(16)
  const full = `${name.slice(0, nameLengthMax - nanoseconds.length - 1)}.${nanoseconds}`
  return checkSubdomain(full).length === 0 ? full : nanoseconds
}
