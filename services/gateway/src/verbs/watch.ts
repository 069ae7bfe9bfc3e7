import type { Catalogue } from '@orch/core/catalogue'
import { type Freshness, type StorageService, type SubscribeRequest, scopePrefix, type WatchFormat } from '@orch/core/contracts'
import { isProtobufFormat, printErrorEvent, type SharedEvents, withColumns } from '@orch/core/events'
import { failed, type Status } from '@orch/core/meta'
import { type ResolvedRead, resolveRead } from '@orch/core/read'
import type { Timer, TimerWheel, WheelTask } from '@orch/platform'
import type { SchemaParts } from '../custom-resources/schema-budget.ts'
import { noteShown, type ShownParts } from '../custom-resources/shown-definitions.ts'
import type { FaultyWatch } from '../faults/watch-faults.ts'
import { limits } from '../limits.ts'
import { acceptsGzip, cborSequence, commonHeaders, type Draws, type GatewayRequest } from '../request/index.ts'
import type { RequestLog } from '../request/request-log.ts'
import type { GatewayMetrics } from '../server/metrics.ts'
import type { GatewayState } from '../server/state.ts'
import { type Range, rangeOf } from '../target/selection.ts'
import type { Served, ServedResources } from '../target/target.ts'
import type { WatchAttachment, WatchHub, WatchSink } from '../watch-hub/index.ts'
import { type FrozenParts, frozenAt, frozenRevision, seesPresent } from './frozen-read.ts'
import { GzipEvents } from './gzip-events.ts'
import { InitialState } from './initial-state.ts'
import { Outbox } from './outbox.ts'
import type { UnreadBytes } from './unread-bytes.ts'
import { readQueryOf, type Verb } from './verb.ts'
import { lifeOf, toFreshness, watchFormatOf } from './watch-options.ts'
import { WatchPrinter, type WatchPrinterParts } from './watch-printer.ts'

/** The dependencies of a watch. */
export type WatchParts = WatchPrinterParts &
  SchemaParts &
  ShownParts &
  FrozenParts & {
    readonly storage: Pick<StorageService, 'get' | 'list'>
    /** Ends the request with the watch. */
    readonly conclude: (request: GatewayRequest) => void
    readonly watchHub: Pick<WatchHub, 'attach'>
    readonly served: Pick<ServedResources, 'find'>
    readonly state: Pick<GatewayState, 'watches'>
    readonly metrics: Pick<GatewayMetrics, 'countEvents' | 'countInitialEvents' | 'countTerminatedWatch'>
    readonly wheel: TimerWheel
    /** Records requests for a test; optional. */
    readonly requestLog: Pick<RequestLog, 'noteWatch'> | undefined
    /** For bookmarks and checks of readers, which repeat until the watch ends. */
    readonly watchWheel: TimerWheel
    readonly unread: Pick<UnreadBytes, 'total' | 'add' | 'remove'>
    readonly draws: Pick<Draws, 'watchLife'>
    readonly isGateOn: Catalogue['isGateOn']
    /** Minor version of the release whose messages refusals have. */
    readonly level: number
    /** Minimum duration of a watch that sets no timeoutSeconds. */
    readonly watchLifeMs: number
  }

/** The first level whose bookmarks omit the unset creation time. */
const unsetTimesUntil = 34
const replacedStatus = failed(410, 'Expired', 'too old resource version: the store has been replaced').status

/** The changes of a collection or of one object, as they happen. */
export const watch: Verb<WatchParts> = async (request, { info, served }, parts) => {
  const { names, level } = parts
  const read = resolveRead('watch', readQueryOf(request), { names, level, isWatchListOn: parts.isGateOn('WatchList') })
  if (read.kind === 'refused') throw read.error
  const format = watchFormatOf(request, served, parts)
  const range = rangeOf(served, info, request.query, parts)
  const lifeMs = lifeOf(request, parts)
  const withBookmarks = 'withBookmarks' in read && read.withBookmarks
  const session = new WatchSession(request, served, parts, { lifeMs, withBookmarks, format })
  await session.run(range, read)
}

interface SessionOptions {
  readonly lifeMs: number
  readonly withBookmarks: boolean
  readonly format: WatchFormat
}

/**
 * One client's watch: the initial state, then the hub's events, until its timeout, the client disconnects or the server stops. There may be ten
 * thousand: once it is attached, nothing waits for it and it holds only what it needs.
 */
class WatchSession implements FaultyWatch, WheelTask {
  readonly request: GatewayRequest
  readonly #served: Served
  readonly #parts: WatchParts
  readonly #withBookmarks: boolean
  readonly #format: WatchFormat
  #endsMs: number
  /** The watch ends when everything up to this revision has been sent. */
  #endsAfter = Number.POSITIVE_INFINITY
  readonly #printer: WatchPrinter
  /** Ends when the last received events have been sent. */
  #turn: Promise<void> = done
  /** Batches of events that wait for their turn. */
  #converting = 0
  #convertingBytes = 0
  #attachment: WatchAttachment | undefined
  /** Releases the readers that convert its events. */
  #release: (() => void) | undefined
  #timer: Timer | undefined
  lastRevision = 0
  #bookmarked = 0
  #nextBookmarkMs: number
  /** True if the bookmark before the end was sent, or the watch is too short for one. */
  #hasLastBookmark: boolean
  readonly #outbox: Outbox
  #isOver = false
  /** The first event of a Table has its columns. */
  #owesColumns: boolean
  /** Compresses the initial events of a client that accepts it. */
  #gzip: GzipEvents | undefined
  readonly values: WatchSink['values']

  constructor(request: GatewayRequest, served: Served, parts: WatchParts, { lifeMs, withBookmarks, format }: SessionOptions) {
    this.request = request
    this.#served = served
    this.#parts = parts
    this.#withBookmarks = withBookmarks
    this.#format = format
    this.#owesColumns = format.kind === 'table'
    this.#printer = new WatchPrinter(served, format, parts, request)
    const { takesEvents } = this.#printer
    this.values = takesEvents ? (values, lastRevision) => this.#showEvents(this.#printer.shared(values), lastRevision) : undefined
    const now = parts.clock.monotonic()
    this.#outbox = new Outbox({
      exchange: request.exchange,
      user: request.user.name,
      unread: parts.unread,
      monotonic: parts.clock.monotonic,
      cutOff: () => this.#cutOff(),
    })
    this.#endsMs = now + lifeMs
    this.#nextBookmarkMs = now + limits.bookmarkIntervalMs
    this.#hasLastBookmark = lifeMs <= limits.lastBookmarkMs
  }

  async run(range: Range, read: ResolvedRead): Promise<void> {
    const { request, after, epoch } = await this.#begin(range, read)
    if (this.#isOver) return
    if (this.#reach(after)) return
    const traceparent = this.request.trace?.span?.traceparent
    const { watchHub, faults } = this.#parts
    const attaching = { request: { ...request, after, epoch }, sink: this, traceparent }
    this.#attachment = faults === undefined ? watchHub.attach(attaching) : faults.watches.attach(watchHub, attaching)
    this.#schedule()
    this.request.goOn()
  }

  /** The head is sent first; the initial state follows. */
  async #begin(
    range: Range,
    read: ResolvedRead,
  ): Promise<{ request: Omit<SubscribeRequest, 'after' | 'epoch'>; after: number; epoch: string }> {
    const { resource } = this.#served
    const { group, version } = this.#printer.remakes ? resource.stored : resource
    const format: WatchFormat = this.#printer.remakes ? { kind: 'json' } : this.#format
    const fingerprint = this.#format.kind === 'metadata' || format.kind !== 'json' ? undefined : resource.stored.readers.fingerprint
    const request = { ...range, group, version, resource: resource.plural, format, fingerprint }
    if (read.kind === 'watchFrom') {
      this.#open()
      return { request, after: read.revision, epoch: '' }
    }
    if (read.kind === 'watchFromNow') {
      // This key never exists. The watch starts after all changes that any replica has acknowledged before this request.
      const { revision, epoch } = await this.#parts.storage.get({ key: scopePrefix(range.scope), read: { kind: 'latest' } })
      this.#open()
      return { request, after: frozenRevision(this.request, this.#parts) ?? revision, epoch }
    }
    if (read.kind !== 'watchWithState') throw new Error(`a watch was read as ${read.kind}`)
    if (read.isWatchList && this.#parts.isGateOn('WatchListCompression') && acceptsGzip(this.request)) this.#gzip = new GzipEvents()
    const frozen = seesPresent(this.request, this.#parts) ? undefined : await frozenAt(this.request, read, this.#parts)
    const { revision, epoch } = await this.#sendState(range, frozen ?? toFreshness(read.state))
    // The initial state was sent; later events are newer. The gate makes sendInitialEvents the default.
    if ((read.isWatchList || (read.withBookmarks && this.#parts.isGateOn('WatchList'))) && !this.#isOver) {
      this.#markEnd(revision)
      const durationMs = this.#parts.clock.monotonic() - this.request.startedMs
      if (read.isWatchList) this.#parts.metrics.countInitialEvents(this.request, durationMs)
    }
    return { request, after: revision, epoch }
  }

  #open(): void {
    const { exchange } = this.request
    this.request.code = 200
    this.#parts.state.watches.add(this)
    this.#parts.requestLog?.noteWatch(this.request)
    this.#parts.faults?.watches.add(this)
    if (!this.#isServed()) this.#endsAfter = 0
    const { preparable } = this.#served.resource.readers
    // Metadata are sent in the form of watch.
    if (preparable !== undefined && this.#format.kind !== 'metadata') this.#release = this.#parts.schemas.hold(preparable)
    exchange.onClose(() => {
      this.#outbox.close()
      this.#over()
    })
    const headers = commonHeaders(this.request, this.#contentType())
    exchange.begin(200, this.#gzip === undefined ? headers : { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
    if (this.#gzip !== undefined) this.#outbox.write([this.#gzip.begin()])
    this.request.audit?.responseStarted()
  }

  /** True if the resource has not changed since the request arrived. */
  #isServed(): boolean {
    const { group, version, plural, readers } = this.#served.resource
    return !readers.isUntyped || this.#parts.served.find(group, version, plural)?.resource.readers === readers
  }

  #contentType(): string {
    if (this.request.answer.format === 'cbor') return cborSequence
    return isProtobufFormat(this.#format) ? `${this.#parts.names.protobufMediaType};stream=watch` : 'application/json'
  }

  /** Sends the initial state, a piece at a time. For a client that stalls it holds the rest of one event, and no snapshot. */
  async #sendState(range: Range, read: Freshness): Promise<{ revision: number; epoch: string }> {
    const state = new InitialState({
      range,
      read,
      served: this.#served,
      printer: this.#printer,
      outbox: this.#outbox,
      parts: this.#parts,
      onHead: () => this.#open(),
      isOver: () => this.#isOver,
      toSent: (frames) => this.#packed(frames),
    })
    while (!this.#isOver) {
      const outcome = await state.sendSome()
      if (outcome.kind === 'sent') return outcome
      if (outcome.kind === 'failed') {
        this.#endWith(outcome.status)
        break
      }
      if (outcome.kind === 'stalled') await this.#drained()
    }
    return { revision: 0, epoch: '' }
  }

  /** Events of the initial state as the client is to get them. */
  #packed(frames: readonly Uint8Array[]): readonly Uint8Array[] | Promise<readonly Uint8Array[]> {
    const shown = this.#owesColumns ? [this.#withFirstColumns(Buffer.concat(frames))] : frames
    if (this.request.answer.format === 'cbor') return this.#packedCbor(Buffer.concat(shown))
    return this.#gzip === undefined ? shown : this.#gzip.packed(Buffer.concat(shown)).then((packed) => [packed])
  }

  async #packedCbor(frames: Uint8Array): Promise<readonly Uint8Array[]> {
    const encoded = await this.#printer.encoded(frames)
    return [this.#gzip === undefined ? encoded : await this.#gzip.packed(encoded)]
  }

  /** A client that does not read the state for too long is disconnected. */
  async #drained(): Promise<void> {
    const { exchange } = this.request
    for (let waiting = this.#outbox.drained(); waiting !== undefined && !this.#isOver; waiting = this.#outbox.drained()) {
      const { takenMs } = this.#outbox
      const timer = this.#parts.wheel.after(limits.watchStallMs, { due: () => this.#outbox.takenMs === takenMs && exchange.destroy() })
      await waiting
      timer.cancel()
    }
  }

  /** Frames in the client's form: all clients get the same bytes except for the columns in the first event of a Table. */
  #withFirstColumns(frames: Uint8Array): Uint8Array {
    if (!this.#owesColumns || frames.length === 0) return frames
    this.#owesColumns = false
    return withColumns(frames, this.#served.resource.readers.table.columnsJson)
  }

  /** A separately fed client gets more when it has read this. */
  frames(bytes: Uint8Array, lastRevision: number, count: number, older: readonly number[] = []): Promise<void> | undefined {
    const made = this.#printer.made(bytes, older)
    if (!(made instanceof Promise) && this.#converting === 0) {
      this.#show(made, lastRevision, count)
      return this.#outbox.drained()
    }
    // Awaited below; until then a failure must not count as unhandled.
    if (made instanceof Promise) made.catch(() => {})
    this.#afterConversions(bytes.length, async () => this.#show(await made, lastRevision, count))
    return this.#turn
  }

  #show(bytes: Uint8Array, lastRevision: number, count: number): void {
    this.#noteShown(lastRevision, count, bytes.length)
    this.#write(this.#withFirstColumns(bytes), true)
    this.#reach(lastRevision)
  }

  #noteShown(lastRevision: number, count: number, bytes: number): void {
    noteShown(this.#served, lastRevision, this.#parts)
    this.#parts.metrics.countEvents(this.#served.resource, count, bytes)
  }

  #showEvents(events: SharedEvents, lastRevision: number): Promise<void> | undefined {
    this.#noteShown(lastRevision, events.list.length, events.length)
    this.#outbox.writeEvents(events)
    this.#noteSent(events.length)
    this.#reach(lastRevision)
    return this.#outbox.drained()
  }

  /** Events keep their order, with or without a conversion by a webhook. A client with too many waiting ones resumes after its last event. */
  #afterConversions(bytes: number, show: () => void | Promise<void>): void {
    this.#converting += 1
    this.#convertingBytes += bytes
    if (this.#convertingBytes > limits.watchBacklogBytesMax) this.#giveUp()
    this.#turn = this.#turn
      .then(() => (this.#isOver ? undefined : show()))
      .catch((error: unknown) => this.#failConverting(error))
      .finally(() => {
        this.#converting -= 1
        this.#convertingBytes -= bytes
      })
  }

  position(revision: number): void {
    if (this.#converting === 0) this.#reach(revision)
    else this.#afterConversions(0, () => void this.#reach(revision))
  }

  /** Everything up to a revision has been sent. Returns true if this ends the watch. */
  #reach(revision: number): boolean {
    this.lastRevision = Math.max(this.lastRevision, revision)
    if (this.lastRevision >= this.#endsAfter) this.finish()
    return this.#isOver
  }

  expired(asked: number, oldest: number): void {
    this.#endWith(failed(410, 'Expired', `too old resource version: ${asked} (${oldest})`).status)
  }

  replaced(): void {
    this.#endWith(replacedStatus)
  }

  /** Called by the timer wheel: a bookmark, the end, or a check of a stalled reader. */
  due(): void {
    this.#timer = undefined
    const now = this.#parts.clock.monotonic()
    if (this.#isOver) return
    if (now >= this.#endsMs) {
      // A busy loop may not have sent it before.
      if (this.#withBookmarks && !this.#hasLastBookmark) this.#bookmark()
      this.#leave()
      return
    }
    if (this.#outbox.unreadBytes > 0 && now - this.#outbox.takenMs >= limits.watchStallMs) {
      this.#giveUp()
      return
    }
    if (this.#withBookmarks && now >= this.#nextBookmarkMs) {
      this.#bookmark()
      this.#nextBookmarkMs = now + limits.bookmarkIntervalMs
    }
    if (this.#withBookmarks && !this.#hasLastBookmark && now >= this.#endsMs - limits.lastBookmarkMs) {
      this.#hasLastBookmark = true
      this.#bookmark()
    }
    this.#schedule()
  }

  /**
   * Ends the stream when the resource is no longer served or its schema has changed, after all earlier events, some of which a webhook may still
   * convert: once the path is a 404, a client cannot get them.
   */
  compare(changed: ReadonlySet<string>, revision: number): void {
    if (!changed.has(this.#served.resource.group) || this.#isServed()) return
    this.#endsAfter = Math.min(this.#endsAfter, revision)
    this.#endsMs = Math.min(this.#endsMs, this.#parts.clock.monotonic() + limits.watchLastEventsMs)
    if (this.#attachment === undefined || this.#reach(0)) return
    this.#timer?.cancel()
    this.#schedule()
  }

  get unreadBytes(): number {
    return this.#outbox.unreadBytes
  }

  cut(): void {
    this.#outbox.close()
    this.request.exchange.destroy()
    this.#over()
  }

  expire(): void {
    if (!this.#isOver) this.expired(this.lastRevision, this.lastRevision + 1)
  }

  /** Ends the stream normally; the client reconnects. */
  finish(): void {
    if (this.#isOver) return
    if (this.#withBookmarks && this.lastRevision > this.#bookmarked) this.#bookmark()
    this.#leave()
  }

  /**
   * Writes no more. The written bytes are whole lines, and the client gets them to the end of the stream if it reads in time: a slow client resumes
   * after the last one.
   */
  #leave(): void {
    if (this.#isOver) return
    const { exchange } = this.request
    const timer = this.#parts.wheel.after(limits.watchLeaveMs, { due: () => exchange.destroy() })
    exchange.onClose(() => timer.cancel())
    if (this.#gzip !== undefined) this.#outbox.write([this.#gzip.end()])
    this.#outbox.end()
    this.#over()
  }

  /** Ends the stream of a client that reads too slowly. */
  #giveUp(): void {
    if (!this.#isOver) this.#parts.metrics.countTerminatedWatch(this.#served.resource)
    this.#leave()
  }

  /** Aborts the stream of a stalled client, if others of its connection or user need the space. */
  #cutOff(): void {
    this.#parts.metrics.countTerminatedWatch(this.#served.resource)
    this.cut()
  }

  #schedule(): void {
    const now = this.#parts.clock.monotonic()
    const lastMs = this.#endsMs - limits.lastBookmarkMs
    const nextMs =
      this.#withBookmarks && !this.#hasLastBookmark ? Math.min(this.#nextBookmarkMs, Math.max(now, lastMs), this.#endsMs) : this.#endsMs
    const isEnd = nextMs >= this.#endsMs && nextMs <= now + limits.watchStallMs
    const wheel = isEnd ? this.#parts.wheel : this.#parts.watchWheel
    this.#timer = wheel.after(Math.min(Math.max(0, nextMs - now), limits.watchStallMs), this)
  }

  #write(bytes: Uint8Array, isShared = false): void {
    if (this.#isOver) return
    const sent = this.#gzip?.stored(bytes) ?? bytes
    if (isShared) this.#outbox.writeShared(sent)
    else this.#outbox.write([sent])
    this.#noteSent(bytes.length)
  }

  #noteSent(bytes: number): void {
    this.request.sentBytes += bytes
    if (this.#outbox.waitingBytes > limits.watchBacklogBytesMax) this.#giveUp()
  }

  #bookmark(annotations?: Record<string, string>): void {
    if (this.lastRevision === 0 || (annotations === undefined && this.#parts.faults?.watches.withholds(this.request))) return
    const { kind, apiVersion } = this.#served.resource
    const metadata = {
      resourceVersion: String(this.lastRevision),
      ...(this.#parts.level < unsetTimesUntil ? { creationTimestamp: null } : {}),
      ...(annotations === undefined ? {} : { annotations }),
    }
    this.#bookmarked = this.lastRevision
    this.#write(this.#printer.encodedEvent(this.#withFirstColumns(this.#printer.bookmark({ kind, apiVersion, metadata }))))
  }

  #markEnd(revision: number): void {
    this.lastRevision = revision
    this.#bookmark({ [`${this.#parts.names.apiDomain}/initial-events-end`]: 'true' })
  }

  #failConverting(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    this.#endWith(failed(500, 'InternalError', message).status)
  }

  #endWith(status: Status): void {
    this.#write(this.#printer.encodedEvent(printErrorEvent(this.#format, status)))
    this.#leave()
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#timer?.cancel()
    this.#attachment?.close()
    this.#release?.()
    this.#parts.state.watches.delete(this)
    this.#parts.faults?.watches.remove(this)
    this.#parts.faults?.reads.give(this.request, this.lastRevision)
    if (this.request.goesOn) this.#parts.conclude(this.request)
  }
}

const done = Promise.resolve()
