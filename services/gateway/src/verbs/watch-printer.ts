import { type ByteFields, cborEvent, jsonToCbor } from '@orch/core/cbor'
import type { Entry, EventValue, EventValues, WatchFormat } from '@orch/core/contracts'
import { metadataOf, printEvent, printPartialMetadataFront, type SharedEvents } from '@orch/core/events'
import type { ApiObject, ObjectMeta } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import type { Clock } from '@orch/platform'
import { conversionMsMax } from '@orch/platform/conversion'
import { type ConversionContext, convertContents, type WebhookConversionParts } from '../conversion/by-webhook.ts'
import { type StoredBytes, toServedBytes } from '../conversion/convert.ts'
import { limits } from '../limits.ts'
import type { RemadeFrames } from '../representations/remade-frames.ts'
import { byteFieldsIn } from '../representations/respond-stored.ts'
import type { SharedFrames } from '../representations/shared-frames.ts'
import { type RepresentationParts, servedMetadataOf } from '../representations/stored-representations.ts'
import type { GatewayRequest } from '../request/request.ts'
import type { Served } from '../target/target.ts'
import { printCbor } from '../texts/print-cbor.ts'
import type { TextThread } from '../texts/text-thread.ts'
import type { RecentObjects } from '../write/recent-objects.ts'

/** The dependencies of printing the events of a watch. */
export type WatchPrinterParts = RepresentationParts &
  WebhookConversionParts & {
    readonly clock: Clock
    readonly remadeFrames: RemadeFrames
    readonly sharedFrames: SharedFrames
    readonly recent: Pick<RecentObjects, 'find' | 'read'>
  }

/** Prints the objects and events of one watch in the requested form. */
export class WatchPrinter {
  /** Watch sends stored objects, whose schema is known only here. */
  readonly remakes: boolean
  /** The client takes events without their text, and watch sends the objects that it requests. */
  readonly takesEvents: boolean
  readonly #served: Served
  readonly #format: WatchFormat
  /** Events are finally converted to CBOR, with these byte fields. */
  readonly #cbor: { readonly fields: ByteFields | undefined; readonly texts: GatewayRequest['texts'] } | undefined
  readonly #parts: WatchPrinterParts
  readonly #traceparent: string | undefined
  /** A webhook converts objects of other versions. Metadata are sent as stored. */
  readonly #isConverted: boolean
  /** The resource for printing, after a webhook's conversion if needed. */
  readonly #printed: Served

  constructor(served: Served, format: WatchFormat, parts: WatchPrinterParts, request: GatewayRequest) {
    this.#served = served
    this.#format = format
    const fields = () => (format.kind === 'metadata' ? undefined : byteFieldsIn(served))
    this.#cbor = request.answer.format === 'cbor' ? { fields: fields(), texts: request.texts } : undefined
    this.#parts = parts
    this.#traceparent = request.trace?.span?.traceparent
    this.#isConverted = served.converted !== undefined && format.kind !== 'metadata'
    this.#printed = (this.#isConverted ? served.converted : undefined) ?? served
    const remakes = served.resource.readers.isUntyped && (format.kind === 'table' || (format.kind === 'json' && !served.isStoredVersion))
    const isMetadata = format.kind === 'metadata' && !format.isProtobuf && served.resource.conversion === undefined
    const isShared = isMetadata || (format.kind === 'json' && !remakes && !this.#isConverted)
    this.takesEvents = request.exchange.writeEvents !== undefined && this.#cbor === undefined && isShared
    this.remakes = remakes || (this.takesEvents && isMetadata)
  }

  /** True if each object needs a webhook. */
  get asksWebhook(): boolean {
    return this.#isConverted
  }

  /** Objects of the state in their printed form. A failing webhook rejects it. */
  async converted(entries: readonly Entry[]): Promise<readonly Entry[]> {
    return this.#isConverted ? convertContents(this.#parts, this.#served, entries, this.#conversionContext()) : entries
  }

  /** Prints an object of the initial state: in pieces if its own bytes can be used, so that those of a long state are copied once. */
  ofState(): (entry: Entry) => readonly Uint8Array[] {
    const [parts, served, format] = [this.#parts, this.#printed, this.#format]
    if (format.kind === 'json' && served.isStoredVersion) {
      const bytesOf = (entry: Entry) => parts.sharedFrames.of(entry, served.resource, asStored, () => toServedBytes(parts, served, entry))
      return (entry) => [addedFront, this.#isConverted ? toServedBytes(parts, served, entry) : bytesOf(entry), frameBack]
    }
    if (format.kind === 'metadata' && !format.isProtobuf) {
      const front = Buffer.concat([addedFront, Buffer.from(printPartialMetadataFront(parts.names, format.version))])
      return (entry) => [front, servedMetadataOf(parts, served, entry), metadataBack]
    }
    // A webhook may convert an object differently each time.
    if (this.#isConverted) return (entry) => [this.#printObject('ADDED', entry)]
    // Rows contain ages.
    const moment = () => (format.kind === 'table' ? Math.floor(parts.clock.now() / 1_000) : 0)
    return (entry) => [parts.sharedFrames.of(entry, served.resource, { format, moment: moment() }, () => this.#printObject('ADDED', entry))]
  }

  /** An event about a stored object, or about one that a webhook has converted. */
  #printObject(type: EventType, stored: StoredBytes): Uint8Array {
    const [parts, served, format] = [this.#parts, this.#printed, this.#format]
    const { readers } = served.resource
    const shown = toServedBytes(parts, served, stored)
    const content = { stored: readers.tableReads === 'served' ? shown : stored.value, served: shown }
    return printEvent(format, type, content, parts.clock.now(), readers.table)
  }

  /** Events without their text. */
  shared({ list, bytes }: EventValues): SharedEvents {
    const { recent, names } = this.#parts
    const [format, { isStoredVersion }] = [this.#format, this.#served]
    if (format.kind === 'metadata') {
      const typeMeta = { kind: 'PartialObjectMetadata', apiVersion: `${domainGroup(names, 'meta')}/${format.version}` }
      const readMetadata = (json: Uint8Array): ObjectMeta => JSON.parse(Buffer.from(metadataOf(json)).toString())
      return {
        list,
        length: bytes,
        objectOf: ({ key, json, revision }) => ({
          ...typeMeta,
          metadata: recent.find(key, json, revision)?.metadata ?? readMetadata(json),
        }),
      }
    }
    // A deleted object is not written again.
    const objectOf = ({ type, key, json, revision }: EventValue): ApiObject =>
      isStoredVersion && type !== 'DELETED' ? recent.read(key, json, revision) : JSON.parse(Buffer.from(json).toString())
    return { list, length: bytes, objectOf }
  }

  /** Events in the client's form; asynchronous if a webhook is needed, and rejected if it fails. `older` as in `WatchSink`. */
  made(frames: Uint8Array, older: readonly number[]): Uint8Array | Promise<Uint8Array> {
    const made = this.#madeEvents(frames, older)
    return made instanceof Promise ? made.then((events) => this.encoded(events)) : this.encoded(made)
  }

  /** Printed events in the client's format: converted to CBOR if requested. Converted once for all clients of the same bytes. */
  encoded(frames: Uint8Array): Uint8Array | Promise<Uint8Array> {
    if (this.#cbor === undefined) return frames
    const { fields, texts } = this.#cbor
    const { remadeFrames } = this.#parts
    const { resource } = this.#served
    return frames.length < limits.cborBytesAtOnce
      ? remadeFrames.of(frames, resource, cborForm, () => Buffer.concat([...framesIn(frames)].map((frame) => cborFrameOf(frame, fields))))
      : remadeFrames.later(frames, resource, cborForm, () => cborFramesInTurns(frames, fields, texts))
  }

  /** Encodes one small event. */
  encodedEvent(frame: Uint8Array): Uint8Array {
    return this.#cbor === undefined ? frame : cborFrameOf(frame, undefined)
  }

  #madeEvents(frames: Uint8Array, older: readonly number[]): Uint8Array | Promise<Uint8Array> {
    if (!this.#isConverted || (older.length === 0 && this.#served.isStoredVersion)) return this.#remade(frames, older)
    return this.#parts.remadeFrames.later(frames, this.#served.resource, this.#format, () => this.#convert(frames, older))
  }

  /** In JSON a bookmark has only its own members; other formats need a whole, empty object. */
  bookmark(object: object): Uint8Array {
    const bytes = Buffer.from(JSON.stringify(object))
    const content = { stored: bytes, served: bytes }
    const { readers } = this.#served.resource
    const nowMs = this.#parts.clock.now()
    if (this.#format.kind !== 'protobuf') return printEvent(this.#format, 'BOOKMARK', content, nowMs, readers.table)
    const decoded = readers.decode(object, { trackUnknown: false })
    if (decoded.kind === 'mismatch') throw new TypeError(decoded.message)
    const served = Buffer.from(JSON.stringify(decoded.object))
    return printEvent(this.#format, 'BOOKMARK', { stored: served, served }, nowMs)
  }

  /**
   * Events with stored objects, in the requested form: all of them, or those about objects of an older schema. Converted once for all clients of the
   * same form.
   */
  #remade(frames: Uint8Array, older: readonly number[]): Uint8Array {
    if (!this.remakes && older.length === 0) return frames
    return this.#parts.remadeFrames.of(frames, this.#served.resource, this.#format, () => this.#remake(frames, older))
  }

  #remake(frames: Uint8Array, older: readonly number[]): Uint8Array {
    const made: Uint8Array[] = []
    let olderSeen = 0
    let index = 0
    for (const frame of framesIn(frames)) {
      const isOlder = older[olderSeen] === index++
      if (isOlder) olderSeen += 1
      made.push(isOlder || this.remakes ? this.#remakeEvent(frame, isOlder) : frame)
    }
    return Buffer.concat(made)
  }

  #remakeEvent(frame: Uint8Array, isOlder: boolean): Uint8Array {
    const { type, value } = eventIn(frame)
    return this.#printObject(type, isOlder ? { value, fingerprint: ofOlderSchema } : { value })
  }

  /** Events whose objects a webhook has converted, in one call. */
  async #convert(frames: Uint8Array, older: readonly number[]): Promise<Uint8Array> {
    const events = [...framesIn(frames)].map(eventIn)
    const contents = events.map(({ value }, index) => (older.includes(index) ? { value, fingerprint: ofOlderSchema } : { value }))
    const converted = await convertContents(this.#parts, this.#served, contents, this.#conversionContext())
    return Buffer.concat(events.map(({ type, value }, index) => this.#printObject(type, converted[index] ?? { value })))
  }

  /** A watch has no deadline: each call has its own timeout. */
  #conversionContext(): ConversionContext {
    return { timeoutMs: conversionMsMax, traceparent: this.#traceparent }
  }
}

const cborForm = { kind: 'cbor' } as const
const addedFront = Buffer.from(frontOf('ADDED'))
/** The object itself, without an event around it. */
const asStored = { format: undefined, moment: 0 }
/** No schema has this fingerprint. */
const ofOlderSchema = -1
const metadataBack = Buffer.from('}}\n')

/** An event in JSON as the same event in CBOR. */
function cborFrameOf(frame: Uint8Array, fields: ByteFields | undefined): Uint8Array {
  const { type, value } = eventIn(frame)
  return cborEvent(type, jsonToCbor(value, fields))
}

/** Like `cborFrameOf`, for many events or large ones: some in one turn of the event loop, and large ones in the thread of texts. */
async function cborFramesInTurns(
  frames: Uint8Array,
  fields: ByteFields | undefined,
  texts: Pick<TextThread, 'do'> | undefined,
): Promise<Uint8Array> {
  const made: Uint8Array[] = []
  let bytes = 0
  for (const frame of framesIn(frames)) {
    const { type, value } = eventIn(frame)
    const printed = printCbor(texts, value, fields)
    made.push(cborEvent(type, printed instanceof Promise ? await printed : printed))
    if (!(printed instanceof Promise)) bytes += frame.length
    if (bytes < limits.cborBytesAtOnce) continue
    bytes = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
  return Buffer.concat(made)
}

const eventTypes = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'] as const
const newline = 0x0a

type EventType = (typeof eventTypes)[number]

/** The text of an event after its object. */
const frameBack = Buffer.from('}\n')

/** The text of an event before its object. */
function frontOf(type: EventType): string {
  return `{"type":"${type}","object":`
}

/** Events from watch, one by one. */
function* framesIn(frames: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let start = 0; start < frames.length; ) {
    const end = frames.indexOf(newline, start) + 1
    yield frames.subarray(start, end)
    start = end
  }
}

function eventIn(frame: Uint8Array): { readonly type: EventType; readonly value: Uint8Array } {
  const type = eventTypes.find((one) => frame[frontOf('ADDED').indexOf('A')] === one.charCodeAt(0)) ?? 'MODIFIED'
  return { type, value: frame.subarray(frontOf(type).length, -frameBack.length) }
}
