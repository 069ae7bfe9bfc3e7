import { printTime, toInstant } from '@orch/core/meta'
import type { Client } from '../client.ts'
import { isRefusal } from '../refusals.ts'
import type { ResourceClient } from '../resource-client.ts'
import { type Correlated, EventCorrelator, type EventDraft, type ObjectReference } from './correlator.ts'
import { EventWriter, type EventWriterOptions, eventNameOf } from './event-writer.ts'

/** The component that reports events. */
export interface EventSource {
  readonly component: string
  /** The node of the component. Undefined if it runs on no node. */
  readonly host?: string
}

export interface EventRecorderOptions extends EventWriterOptions {
  readonly client: Client
  /** Milliseconds since 1970. */
  readonly now: () => number
}

const events = { group: '', version: 'v1', plural: 'events', namespaced: true } as const

/**
 * Writes core/v1 Events on behalf of one source, in groups, through an EventCorrelator. Events are best effort: a failed write
 * is logged and otherwise ignored. With 1000 events waiting, further events are dropped.
 */
export class EventRecorder {
  readonly #source: EventSource
  readonly #options: EventRecorderOptions
  readonly #collection: ResourceClient
  readonly #correlator = new EventCorrelator()
  readonly #writer: EventWriter

  constructor(source: EventSource, options: EventRecorderOptions) {
    this.#source = source
    this.#options = options
    this.#collection = options.client.resource(events)
    this.#writer = new EventWriter(options)
  }

  /** Reports an event about an object. Returns before the event is written. */
  record(about: ObjectReference, draft: EventDraft): void {
    const { now, random } = this.#options
    if (!this.#writer.hasRoom(draft.reason)) return
    const nowMs = now()
    const correlated = this.#correlator.correlate({ ...draft, about, name: eventNameOf(about, nowMs, random) }, nowMs)
    if (correlated.kind === 'skipped') return
    this.#writer.write(correlated.event, () => this.#sendEvent(correlated, nowMs))
  }

  /** Resolves when no event waits. */
  settled(): Promise<void> {
    return this.#writer.settled()
  }

  /** An event whose count is to be raised may have expired; then it is created again. */
  async #sendEvent({ kind, event, count, firstMs }: Exclude<Correlated, { kind: 'skipped' }>, nowMs: number): Promise<void> {
    const { signal } = this.#options
    const namespace = event.about.namespace ?? 'default'
    const { message } = event
    const lastTimestamp = printTime(toInstant(nowMs))
    if (kind === 'patch') {
      try {
        const patch = { count, lastTimestamp, message }
        return await this.#collection.unanswered.patch(event.name, patch, { type: 'strategic', namespace, signal })
      } catch (error) {
        if (!isRefusal(error, ['NotFound'])) throw error
      }
    }
    const firstTimestamp = printTime(toInstant(firstMs))
    await this.#collection.unanswered.create(
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: event.name, namespace },
        involvedObject: event.about,
        type: event.type,
        reason: event.reason,
        message,
        source: this.#source,
        firstTimestamp,
        lastTimestamp,
        count,
        reportingComponent: this.#source.component,
        reportingInstance: this.#source.host ?? '',
      },
      { signal },
    )
  }
}
