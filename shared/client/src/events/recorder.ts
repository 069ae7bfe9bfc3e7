import { type ApiObject, checkSubdomain, printTime, StatusError, toInstant } from '@orch/core/meta'
import type { Client } from '../client.ts'
import { type Correlated, EventCorrelator, type EventDraft, type ObjectReference } from './correlator.ts'

/** Bounds as in client-go: events that wait, attempts to reach the server, and the pause between them. */
const waitingMax = 1000
const attemptsMax = 12
const retryMs = 10_000
/** Characters of the name of an Event. */
const nameLengthMax = 253

/** The part of a program that reports events. */
export interface EventSource {
  readonly component: string
  /** The node of the component. Absent: it belongs to none. */
  readonly host?: string
}

export interface EventRecorderOptions {
  readonly client: Client
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Waits between attempts; resolves early when the signal is raised. */
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>
  /** A number in [0, 1). */
  readonly random: () => number
  readonly log: Record<'debug' | 'warn', (fields: Readonly<Record<string, unknown>>, message: string) => void>
  readonly signal: AbortSignal
}

const events = { group: '', version: 'v1', plural: 'events', namespaced: true } as const

/**
 * Writes core/v1 Events in the name of one source, one after the other, through an EventCorrelator. Events are best effort: a failure to
 * write one is logged and changes nothing, and beyond 1000 waiting events further ones are dropped.
 */
export class EventRecorder {
  readonly #source: EventSource
  readonly #options: EventRecorderOptions
  readonly #correlator = new EventCorrelator()
  readonly #waiting: (() => Promise<void>)[] = []
  #writing: Promise<void> | undefined

  constructor(source: EventSource, options: EventRecorderOptions) {
    this.#source = source
    this.#options = options
  }

  /** Reports an event about an object. Returns before it is written. */
  record(about: ObjectReference, draft: EventDraft): void {
    const { now, random, log, signal } = this.#options
    if (signal.aborted) return
    if (this.#waiting.length >= waitingMax) return void log.warn({ reason: draft.reason }, 'an event was dropped: too many are waiting')
    const nowMs = now()
    const correlated = this.#correlator.correlate({ ...draft, about, name: eventNameOf(about, nowMs, random) }, nowMs)
    if (correlated.kind === 'skipped') return
    this.#waiting.push(() => this.#writeEvent(correlated, nowMs))
    this.#writing ??= this.#writeAll()
  }

  /** Resolves when no event waits. */
  async settled(): Promise<void> {
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    const { signal } = this.#options
    for (let write = this.#waiting.shift(); write !== undefined && !signal.aborted; write = this.#waiting.shift()) await write()
    this.#writing = undefined
  }

  /** A refusal is final; a server that cannot be reached is asked again. */
  async #writeEvent(correlated: Exclude<Correlated, { kind: 'skipped' }>, nowMs: number): Promise<void> {
    const { sleep, random, log, signal } = this.#options
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#sendEvent(correlated, nowMs)
      } catch (err) {
        const isFinal = err instanceof StatusError || attempt === attemptsMax
        if (isFinal || signal.aborted) return void log.debug({ err, reason: correlated.event.reason }, 'an event could not be written')
        await sleep(attempt === 1 ? retryMs * random() : retryMs, signal)
      }
    }
  }

  /** An event whose count is raised may have expired. */
  async #sendEvent({ kind, event, count, firstMs }: Exclude<Correlated, { kind: 'skipped' }>, nowMs: number): Promise<void> {
    const { client, signal } = this.#options
    const namespace = event.about.namespace ?? 'default'
    const { message } = event
    const lastTimestamp = printTime(toInstant(nowMs))
    const collection = client.resource<ApiObject>(events)
    if (kind === 'patch') {
      try {
        return void (await collection.patch(event.name, { count, lastTimestamp, message }, { type: 'strategic', namespace, signal }))
      } catch (error) {
        if (!(error instanceof StatusError) || error.reason !== 'NotFound') throw error
      }
    }
    const firstTimestamp = printTime(toInstant(firstMs))
    await collection.create(
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: event.name, namespace },
        involvedObject: event.about,
        ...{ type: event.type, reason: event.reason, message },
        source: this.#source,
        ...{ firstTimestamp, lastTimestamp, count },
        reportingComponent: this.#source.component,
        reportingInstance: this.#source.host ?? '',
      },
      { signal },
    )
  }
}

/** The beginning of the object's name with the time in nanoseconds; the time alone for names that an Event cannot have. */
function eventNameOf({ name }: ObjectReference, nowMs: number, random: () => number): string {
  const nanoseconds = (BigInt(Math.trunc(nowMs)) * 1_000_000n + BigInt(Math.floor(random() * 1_000_000))).toString(16)
  const full = `${name.slice(0, nameLengthMax - nanoseconds.length - 1)}.${nanoseconds}`
  return checkSubdomain(full).length === 0 ? full : nanoseconds
}
