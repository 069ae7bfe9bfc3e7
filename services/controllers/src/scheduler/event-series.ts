import { type EventRecorderOptions, EventWriter, eventNameOf, type ObjectReference, unlessGone } from '@orch/client'
import { type ApiObject, printMicroTime, toInstant } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import { eventTurns, sleep, type Timer } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'

/** Time without a repeat after which a series ends, as in client-go. */
const seriesMs = 360_000
/** Maximum number of events that may be repeated; the oldest is dropped first. */
const heldMax = 4096
/** Maximum bytes of a note. */
const noteBytesMax = 1024
const cut = ' ...'

export interface SeriesRecorderOptions
  extends Omit<EventRecorderOptions, 'now' | 'sleep' | 'turns'>,
    Pick<Surroundings, 'names' | 'clock'> {
  /** Name of this host, for the reporting instance. */
  readonly host: string
}

/** An occurrence of an event about an object. */
export interface SchedulingEvent {
  readonly regarding: ObjectReference
  readonly related?: ObjectReference
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly action: string
  readonly note: string
  /** The scheduler that reports it. */
  readonly reporter: string
}

interface Held {
  readonly name: string
  readonly namespace: string
  lastMs: number
  count: number
}

/**
 * Writes events.k8s.io/v1 Events (SCHED-16). Repetitions about the same state of the same object become a series: the second is written, later ones are
 * counted, and their number is written at the end of the series.
 */
export class SeriesRecorder {
  readonly #options: SeriesRecorderOptions
  readonly #writer: EventWriter
  readonly #held = new Map<string, Held>()
  /** Set while events may be repeated. */
  #timer: Timer | undefined

  constructor(options: SeriesRecorderOptions) {
    this.#options = options
    this.#writer = new EventWriter({
      ...options,
      turns: eventTurns(options.clock, options.signal),
      sleep: (delayMs, signal) => sleep(options.clock, delayMs, signal),
    })
  }

  /** Reports an event. Returns before it is written. */
  record(event: SchedulingEvent): void {
    const { clock, random } = this.#options
    if (!this.#writer.hasRoom(event.reason)) return
    const { regarding, related, action, reason, reporter } = event
    const key = JSON.stringify([action, reason, reporter, regarding, related])
    const nowMs = clock.now()
    const held = this.#held.get(key)
    if (held !== undefined) {
      held.lastMs = nowMs
      if (++held.count === 2) this.#writeSeries(held)
      return
    }
    const name = eventNameOf(regarding, nowMs, random)
    const namespace = regarding.namespace ?? 'default'
    this.#holdSeries(key, { name, namespace, lastMs: nowMs, count: 1 })
    this.#writer.write({ name, reason }, () => this.#createEvent(event, name, namespace, nowMs))
  }

  /** Resolves when no event is pending. */
  async close(): Promise<void> {
    this.#timer?.cancel()
    await this.#writer.settled()
  }

  #holdSeries(key: string, held: Held): void {
    this.#held.set(key, held)
    this.#timer ??= this.#options.clock.every(seriesMs, () => this.#endSeries())
    if (this.#held.size <= heldMax) return
    for (const oldest of this.#held.keys()) {
      this.#held.delete(oldest)
      return
    }
  }

  #endSeries(): void {
    const nowMs = this.#options.clock.now()
    for (const [key, held] of this.#held) {
      if (nowMs - held.lastMs <= seriesMs) continue
      this.#held.delete(key)
      if (held.count > 2) this.#writeSeries(held)
    }
    if (this.#held.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #writeSeries({ name, namespace, count, lastMs }: Held): void {
    const { client, signal } = this.#options
    const series = { count, lastObservedTime: printMicroTime(toInstant(lastMs)) }
    this.#writer.write({ name, reason: 'series' }, async () => {
      // The event may have expired.
      await unlessGone(() => client.resource(this.#events).patch(name, { series }, { type: 'strategic', namespace, signal }))
    })
  }

  async #createEvent(event: SchedulingEvent, name: string, namespace: string, nowMs: number): Promise<void> {
    const { client, host, signal } = this.#options
    const { regarding, related, type, reason, action, note, reporter } = event
    const { group } = this.#events
    const object: ApiObject = {
      apiVersion: `${group}/v1`,
      kind: 'Event',
      metadata: { name, namespace },
      eventTime: printMicroTime(toInstant(nowMs)),
      reportingController: reporter,
      reportingInstance: `${reporter}-${host}`,
      action,
      reason,
      regarding,
      ...(related && { related }),
      note: cutNote(note),
      type,
    }
    await client.resource(this.#events).unanswered.create(object, { signal })
  }

  get #events() {
    return { group: domainGroup(this.#options.names, 'events'), version: 'v1', plural: 'events', namespaced: true }
  }
}

/** The note in at most 1,024 bytes (SCHED-17). */
function cutNote(note: string): string {
  if (Buffer.byteLength(note) <= noteBytesMax) return note
  return (
    Buffer.from(note)
      .subarray(0, noteBytesMax - cut.length)
      .toString()
      .replace(/\uFFFD$/, '') + cut
  )
}
