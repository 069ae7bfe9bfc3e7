import {
  type Freshness,
  notAcceptable,
  type ReadPoint,
  type ResolvedRead,
  resolveRead,
  type Status,
  type SubscribeRequest,
} from '@orch/core'
import type { Timer, WheelTask } from '@orch/platform'
import { toServedBytes } from '../convert.ts'
import { limits } from '../limits.ts'
import { streamedMediaTypes } from '../negotiate.ts'
import type { GatewayParts } from '../parts.ts'
import { queryInteger } from '../query.ts'
import type { GatewayRequest } from '../request.ts'
import { commonHeaders } from '../respond.ts'
import { type Range, rangeOf } from '../selection.ts'
import type { Served } from '../served.ts'
import type { WatchAttachment, WatchSink } from '../watch-hub/index.ts'
import { readQueryOf, type Verb } from './verb.ts'

/** The changes of a collection or of one object, as they happen. */
export const watch: Verb = async (request, { info, served }, parts) => {
  const read = resolveRead('watch', readQueryOf(request), { names: parts.names })
  if (read.kind === 'refused') throw read.error
  if (request.format !== 'json') throw notAcceptable(streamedMediaTypes)
  const range = rangeOf(served, info, request.query)
  const lifeMs = lifeOf(request, parts)
  const session = new WatchSession(request, served, parts, lifeMs, 'withBookmarks' in read && read.withBookmarks)
  await session.run(range, read)
}

function lifeOf({ query }: GatewayRequest, { random }: GatewayParts): number {
  const seconds = queryInteger(query, 'timeoutSeconds') ?? 0
  return seconds > 0 ? seconds * 1000 : limits.watchLifeMs + random(limits.watchLifeMs)
}

/** One client's watch: what is there, then what the hub gives, until time is up, the client goes or the server stops. */
class WatchSession implements WatchSink, WheelTask {
  readonly #request: GatewayRequest
  readonly #served: Served
  readonly #parts: GatewayParts
  readonly #withBookmarks: boolean
  readonly #endsMs: number
  readonly #ended = Promise.withResolvers<void>()
  #attachment: WatchAttachment | undefined
  #timer: Timer | undefined
  #position = 0
  #bookmarked = 0
  #nextBookmarkMs: number
  #hasLastBookmark = false
  #stalledSinceMs: number | undefined
  #marksEndAt: number | undefined
  #isOver = false

  constructor(request: GatewayRequest, served: Served, parts: GatewayParts, lifeMs: number, withBookmarks: boolean) {
    this.#request = request
    this.#served = served
    this.#parts = parts
    this.#withBookmarks = withBookmarks
    const now = parts.clock.monotonic()
    this.#endsMs = now + lifeMs
    this.#nextBookmarkMs = now + limits.bookmarkIntervalMs
  }

  async run(range: Range, read: ResolvedRead): Promise<void> {
    const { request, after, epoch } = await this.#begin(range, read)
    if (this.#isOver) return
    this.#position = after
    this.#attachment = this.#parts.watchHub.attach({ request: { ...request, after, epoch }, sink: this })
    this.#schedule()
    await this.#ended.promise
  }

  /** The head leaves before anything else is known; what is there follows. */
  async #begin(
    range: Range,
    read: ResolvedRead,
  ): Promise<{ request: Omit<SubscribeRequest, 'after' | 'epoch'>; after: number; epoch: string }> {
    const { resource } = this.#served
    const request = {
      ...range,
      group: resource.group,
      version: resource.version,
      resource: resource.plural,
      format: { kind: 'json' } as const,
    }
    if (read.kind === 'watchFrom') {
      this.#open()
      return { request, after: read.revision, epoch: '' }
    }
    if (read.kind === 'watchFromNow') {
      const { revision, epoch } = await this.#parts.storage.status({})
      this.#open()
      return { request, after: revision, epoch }
    }
    if (read.kind !== 'watchWithState') throw new Error(`a watch was read as ${read.kind}`)
    const { revision, epoch } = await this.#sendState(range, toFreshness(read.state))
    if (read.marksEnd) this.#marksEndAt = revision
    return { request, after: revision, epoch }
  }

  #open(): void {
    const { exchange } = this.#request
    this.#request.code = 200
    this.#parts.state.watches.add(this)
    exchange.onClose(() => this.#over())
    exchange.begin(200, commonHeaders(this.#request, 'application/json'))
  }

  async #sendState(range: Range, read: Freshness): Promise<{ revision: number; epoch: string }> {
    const listed = this.#parts.storage.list({ ...range, read, limit: 0, start: '', form: 'entries' })
    const { exchange } = this.#request
    let head = { revision: 0, epoch: '' }
    for await (const part of listed) {
      if (part.kind === 'head') {
        head = part
        this.#open()
        continue
      }
      if (part.kind !== 'entries' || this.#isOver) continue
      const frames = part.entries.flatMap(({ value }) => [addedFront, toServedBytes(this.#parts, this.#served, value), frameBack])
      if (!exchange.write(Buffer.concat(frames))) await exchange.drained()
    }
    return head
  }

  frames(bytes: Uint8Array, lastRevision: number): void {
    this.#position = lastRevision
    this.#parts.metrics.countEvents(this.#served.resource, countFrames(bytes))
    this.#write(bytes)
  }

  position(revision: number): void {
    this.#position = Math.max(this.#position, revision)
    if (this.#marksEndAt !== undefined && revision >= this.#marksEndAt) this.#markEnd()
  }

  expired(asked: number, oldest: number): void {
    this.#fail(`too old resource version: ${asked} (${oldest})`)
  }

  replaced(): void {
    this.#fail('too old resource version: the store has been replaced')
  }

  /** Called by the timer wheel: a bookmark, the end, or a look at a reader that takes nothing. */
  due(): void {
    this.#timer = undefined
    const now = this.#parts.clock.monotonic()
    if (this.#isOver) return
    if (now >= this.#endsMs) {
      this.finish()
      return
    }
    if (this.#isStalled(now)) {
      this.#request.exchange.destroy()
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

  /** Ends the stream in order; the client comes back for more. */
  finish(): void {
    if (this.#isOver) return
    if (this.#withBookmarks && this.#position > this.#bookmarked) this.#bookmark()
    this.#request.exchange.end()
    this.#over()
  }

  #schedule(): void {
    const now = this.#parts.clock.monotonic()
    const lastMs = this.#endsMs - limits.lastBookmarkMs
    const nextMs =
      this.#withBookmarks && !this.#hasLastBookmark ? Math.min(this.#nextBookmarkMs, Math.max(now, lastMs), this.#endsMs) : this.#endsMs
    this.#timer = this.#parts.wheel.after(Math.min(Math.max(0, nextMs - now), limits.watchStallMs), this)
  }

  #isStalled(now: number): boolean {
    if (this.#request.exchange.waitingBytes === 0) this.#stalledSinceMs = undefined
    else this.#stalledSinceMs ??= now
    return this.#stalledSinceMs !== undefined && now - this.#stalledSinceMs >= limits.watchStallMs
  }

  #write(bytes: Uint8Array | string): void {
    const { exchange } = this.#request
    if (this.#isOver) return
    exchange.write(bytes)
    this.#request.sentBytes += bytes.length
    if (exchange.waitingBytes > limits.watchBacklogBytesMax) exchange.destroy()
  }

  #bookmark(annotations?: Record<string, string>): void {
    if (this.#position === 0) return
    const { kind, apiVersion } = this.#served.resource
    const metadata = {
      resourceVersion: String(this.#position),
      creationTimestamp: null,
      ...(annotations === undefined ? {} : { annotations }),
    }
    this.#bookmarked = this.#position
    this.#write(`${JSON.stringify({ type: 'BOOKMARK', object: { kind, apiVersion, metadata } })}\n`)
  }

  #markEnd(): void {
    this.#marksEndAt = undefined
    this.#bookmark({ [`${this.#parts.names.apiDomain}/initial-events-end`]: 'true' })
  }

  #fail(message: string): void {
    const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason: 'Expired', code: 410 }
    this.#write(`${JSON.stringify({ type: 'ERROR', object: status })}\n`)
    this.#request.exchange.end()
    this.#over()
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#timer?.cancel()
    this.#attachment?.close()
    this.#parts.state.watches.delete(this)
    this.#ended.resolve()
  }
}

/** Frames end with a newline and have none within. All clients get the same bytes, so they are counted once. */
function countFrames(bytes: Uint8Array): number {
  const known = frameCounts.get(bytes)
  if (known !== undefined) return known
  let count = 0
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) count++
  frameCounts.set(bytes, count)
  return count
}

const frameCounts = new WeakMap<Uint8Array, number>()
const newline = 0x0a

const addedFront = Buffer.from('{"type":"ADDED","object":')
const frameBack = Buffer.from('}\n')

function toFreshness(point: ReadPoint): Freshness {
  return point.kind === 'notOlderThan' ? { kind: 'notOlderThan', revision: point.revision, asked: point.asked } : { kind: point.kind }
}
