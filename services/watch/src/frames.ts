import type { Change, EventsOrigin, EventsPart, EventValue, EventValues, WatchFormat } from '@orch/core/contracts'
import { printEvent } from '@orch/core/events'
import { memberSpan } from '@orch/core/json'
import type { TablePrinter } from '@orch/core/table'
import type { EventType } from './event.ts'
import { tracesPerPieceMax } from './limits.ts'

/** The version of a resource that a subscriber requests. */
export interface Target {
  /** Storage prefix of the resource. */
  readonly storageResource: string
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** Converts a stored object to the requested version; undefined if it cannot. */
export type Convert = (object: Uint8Array) => Uint8Array | undefined

/** The conversion between a version and itself. */
export const unconverted: Convert = (object) => object

/** A conversion that reports its errors to `onError`: an object that cannot be shown must not stop the changes of others. */
export function guarded(convert: Convert, onError: (error: unknown) => void): Convert {
  if (convert === unconverted) return unconverted
  return (object) => {
    try {
      return convert(object)
    } catch (error) {
      onError(error)
      return undefined
    }
  }
}

const heads: Readonly<Record<EventType, Uint8Array>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
}
const tail = Buffer.from('}\n')

/** The content of an event is unavailable: neither this service nor storage has it, or it cannot be converted. */
export const contentLost = Symbol('content lost')

/** The content of an event in the stored version: the object, or for DELETED its last state. */
function contentOf(change: Change, type: EventType): Uint8Array | typeof contentLost {
  if (type !== 'DELETED') return change.after?.value ?? contentLost
  const last = change.before?.value
  return last === undefined ? contentLost : withRevision(last, change.revision)
}

/** The form in which a distributor's subscribers see a change. */
export interface View {
  /** The version, as a key. */
  readonly version: string
  readonly convert: Convert
  readonly format: WatchFormat
  /** The table of the kind, for table formats. By default rows have names and creation times. */
  readonly table?: TablePrinter | undefined
  readonly formatKey: string
  /** The fingerprint of the schema whose objects subscribers accept unchanged; undefined if they accept any. */
  readonly fingerprint?: number | undefined
}

/** True if the event's content was written under another schema than subscribers want. */
export function isOlder({ before, after }: Change, type: EventType, { fingerprint }: View): boolean {
  return fingerprint !== undefined && (type === 'DELETED' ? before : after)?.fingerprint !== fingerprint
}

/** The contents of one turn's changes, each made once per version and format for all selections. Each turn creates one and discards it. */
export class Contents {
  readonly #nowMs: number
  readonly #onError: (error: unknown) => void
  readonly #made = new Map<string, Uint8Array>()

  /** Ages in events are relative to `nowMs`. Reports an object that cannot be written in a format to `onError`. */
  constructor(nowMs: number, onError: (error: unknown) => void) {
    this.#nowMs = nowMs
    this.#onError = onError
  }

  /** The object in the requested version. */
  of(change: Change, type: EventType, { version, convert }: View): Uint8Array | typeof contentLost {
    if (convert === unconverted && type !== 'DELETED') return contentOf(change, type)
    return this.#once(`${change.revision} ${type === 'DELETED' ? 'before' : 'after'} ${version}`, () => {
      const stored = contentOf(change, type)
      return stored === contentLost ? undefined : convert(stored)
    })
  }

  /** The whole frame, for formats other than JSON. */
  frameOf(change: Change, type: EventType, view: View): Uint8Array | typeof contentLost {
    return this.#once(`${change.revision} ${type} ${view.version} ${view.formatKey}`, () => {
      const stored = contentOf(change, type)
      const served = this.of(change, type, view)
      if (stored === contentLost || served === contentLost) return undefined
      try {
        return printEvent(view.format, type, { stored, served, metadata: metadataSpan(change, served) }, this.#nowMs, view.table)
      } catch (error) {
        this.#onError(error)
        return undefined
      }
    })
  }

  #once(key: string, make: () => Uint8Array | undefined): Uint8Array | typeof contentLost {
    const known = this.#made.get(key)
    if (known !== undefined) return known
    const made = make()
    if (made === undefined) return contentLost
    this.#made.set(key, made)
    return made
  }
}

/** The metadata's position in the served bytes if the change gives it, for an object that is served as stored. */
function metadataSpan({ after }: Change, served: Uint8Array): { readonly start: number; readonly end: number } | undefined {
  return after === undefined || after.value !== served ? undefined : { start: after.metadataStart, end: after.metadataEnd }
}

const nowhere = {}

/** Frames for one (scope, selection, version, format), joined when taken. */
export class Frames {
  /** The frames of written events. */
  #pieces: Uint8Array[] = []
  /** Events in JSON, whose frames are written when they are read. Frames of one distributor are all of one form. */
  #values: EventValue[] = []
  #bytes = 0
  /** Events that wait to be taken. */
  count = 0
  last = 0
  /** The indexes of events about objects of another schema. */
  #older: number[] = []
  #origin: { committedMs: number; traceparents: string[] } | undefined

  /** An event in JSON around the object's text. `isOlder`: the object has another schema than the subscribers want. */
  addJson(value: EventValue, isOlder = false): void {
    if (isOlder) this.#older.push(this.count)
    this.#values.push(value)
    this.#bytes += heads[value.type].length + value.json.length + tail.length
    this.#count(value.revision)
  }

  /** An event that is already written. */
  add(revision: number, frame: Uint8Array): void {
    this.#pieces.push(frame)
    this.#bytes += frame.length
    this.#count(revision)
  }

  /** Records the origin of the last added event: the oldest time, and a bounded number of traces. */
  note(committedMs: number, traceparent: string | undefined): void {
    this.#origin ??= { committedMs, traceparents: [] }
    if (traceparent !== undefined && this.#origin.traceparents.length < tracesPerPieceMax) this.#origin.traceparents.push(traceparent)
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Returns the frames as one piece and empties the collection. */
  take(): EventsPart {
    const older = this.#older.length === 0 ? nowhere : { older: this.#older }
    const rest = { count: this.count, last: this.last, ...this.#takeOrigin(), ...older }
    const part: EventsPart =
      this.#values.length === 0
        ? { kind: 'events', frames: Buffer.concat(this.#pieces, this.#bytes), ...rest }
        : partOfValues({ list: this.#values, bytes: this.#bytes }, rest)
    this.#older = []
    this.#pieces = []
    this.#values = []
    this.#bytes = 0
    this.count = 0
    return part
  }

  #takeOrigin(): { origin?: EventsOrigin } {
    if (this.#origin === undefined) return nowhere
    const origin = this.#origin
    this.#origin = undefined
    return { origin }
  }

  #count(revision: number): void {
    this.count += 1
    this.last = revision
  }
}

/** A piece of events in JSON. Its frames are joined when they are first read: a reader in this process needs only the values. */
export function partOfValues(values: EventValues, rest: Omit<EventsPart, 'kind' | 'frames' | 'values'>): EventsPart {
  let frames: Uint8Array | undefined
  return {
    kind: 'events',
    get frames() {
      frames ??= framesOf(values)
      return frames
    },
    values,
    ...rest,
  }
}

function framesOf({ list, bytes }: EventValues): Uint8Array {
  const pieces: Uint8Array[] = []
  for (const { type, json } of list) pieces.push(heads[type], json, tail)
  return Buffer.concat(pieces, bytes)
}

/**
 * Replaces `metadata.resourceVersion` without parsing the object: a DELETED event contains the object's last state at the revision of the deletion.
 * An object without the field is returned unchanged.
 */
export function withRevision(object: Uint8Array, revision: number): Uint8Array {
  const metadata = memberSpan(object, 0, 'metadata')
  const value = metadata === undefined ? undefined : memberSpan(object, metadata.start, 'resourceVersion')
  if (value === undefined) return object
  return Buffer.concat([object.subarray(0, value.start), Buffer.from(`"${revision}"`), object.subarray(value.end)])
}
