import { type Change, type ChangeMessage, type ChangesPart, revisionOfMessage, type StorageService } from '@orch/core/contracts'
import {
  type Clock,
  counter,
  declareMetrics,
  gauge,
  type Log,
  type Metrics,
  type MetricsOf,
  messageOf,
  onAbort,
  retryDelayMs,
  type Span,
  sleep,
  type Tracer,
} from '@orch/platform'
import type { ChangeStream } from '@orch/platform/nats'
import type { Leadership } from '../leadership.ts'
import { defaultPublisherLimits, type PublisherLimits } from './limits.ts'

/** The dependencies of a publisher. */
export interface PublisherOptions {
  /** The source of the changes: this process's storage. */
  readonly storage: Pick<StorageService, 'changes' | 'status'>
  /** The owner closes it after the publisher. */
  readonly stream: ChangeStream
  readonly leadership: Leadership
  readonly clock: Clock
  readonly log: Log
  /** From 0 to 1; spreads the attempts. */
  readonly random: () => number
  readonly metrics: Metrics
  /** Undefined without tracing. */
  readonly tracer?: Tracer | undefined
  /** True for objects that are stored encrypted: messages contain only their keys, and subscribers read them from storage. */
  readonly isEncrypted?: ((key: string) => boolean) | undefined
  readonly limits?: Partial<PublisherLimits>
}

/**
 * Publishes storage's changes while this replica leads, starting after the last message of the stream. Each message names its predecessor, so that
 * NATS refuses one of two publishers; that one continues after the other's last message. Publishing does not delay storage: without NATS, watch reads
 * from storage.
 */
export function createPublisher(options: PublisherOptions) {
  const closing = new AbortController()
  const counts = declareMetrics(options.metrics, table)
  const done = run({ ...options, limits: { ...defaultPublisherLimits, ...options.limits } }, counts, closing.signal)
  return {
    async close() {
      closing.abort()
      await done
    },
  }
}

type Environment = PublisherOptions & { readonly limits: PublisherLimits }

const table = {
  change_feed_published_messages_total: counter('Messages that NATS took in, by kind.', ['kind']),
  change_feed_published_changes_total: counter('Changes that NATS took in.'),
  change_feed_publisher_restarts_total: counter('Times that the publisher had to begin anew: it was refused, or NATS or storage failed.'),
  change_feed_publishing: gauge('1 while this replica publishes changes.'),
  change_feed_published_revision: gauge('Revision up to which changes have been published.'),
}
type Counts = MetricsOf<typeof table>

async function run(environment: Environment, counts: Counts, closing: AbortSignal): Promise<void> {
  const { leadership, clock, log, random, limits } = environment
  let attempt = 0
  while (!closing.aborted) {
    const term = await leading(leadership, closing)
    if (term === undefined) return
    try {
      await new Session(environment, counts, term.signal, () => {
        attempt = 0
      }).run()
    } catch (error) {
      counts.change_feed_publisher_restarts_total.inc()
      // Watch continues without the published changes, so the publisher logs the reason once, and again if it lasts.
      const level = attempt % limits.attemptsPerLine === 1 ? 'warn' : 'debug'
      if (!term.signal.aborted) log[level]({ reason: messageOf(error), attempt }, 'changes cannot be published')
    } finally {
      counts.change_feed_publishing.set(0)
      term.end()
    }
    attempt += 1
    await sleep(clock, retryDelayMs({ attempt, maxMs: limits.retryDelayMsMax, random: random() }), closing)
  }
}

/** Waits until this replica leads. The signal aborts when the replica no longer leads, or with the other signal. */
async function leading(leadership: Leadership, closing: AbortSignal): Promise<{ readonly signal: AbortSignal; end(): void } | undefined> {
  const over = new AbortController()
  const { promise: elected, resolve } = Promise.withResolvers<void>()
  const detach = leadership.onChange((isLeader) => (isLeader ? resolve() : over.abort()))
  const close = () => {
    over.abort()
    resolve()
  }
  onAbort(closing, close)
  const end = () => {
    detach()
    closing.removeEventListener('abort', close)
  }
  if (!leadership.isLeader && !closing.aborted) await elected
  if (!closing.aborted) return { signal: over.signal, end }
  end()
  return undefined
}

/** From the read of the stream's end to the first failure. */
class Session {
  readonly #environment: Environment
  readonly #counts: Counts
  readonly #onPublished: () => void
  readonly #failed = new AbortController()
  readonly #signal: AbortSignal
  readonly #inFlight = new Set<Promise<void>>()
  #epoch = ''
  /** NATS has received every change up to here. */
  #revision = 0
  /** The last change of the stream, if known. */
  #lastChange = 0
  #sequence = 0
  #lastId: string | undefined
  #positionAtMs: number
  /** The last time at which storage had no later changes, or sent a part. */
  #currentAtMs: number

  constructor(environment: Environment, counts: Counts, over: AbortSignal, onPublished: () => void) {
    this.#environment = environment
    this.#counts = counts
    this.#onPublished = onPublished
    this.#signal = AbortSignal.any([over, this.#failed.signal])
    this.#positionAtMs = environment.clock.monotonic()
    this.#currentAtMs = this.#positionAtMs
  }

  async run(): Promise<void> {
    const { clock, storage, limits } = this.#environment
    await this.#begin()
    if (this.#signal.aborted) return
    this.#counts.change_feed_publishing.set(1)
    let beat = Promise.resolve()
    const heart = clock.every(limits.heartbeatMs, () => {
      beat = this.#beat().catch(() => undefined)
    })
    const stream = storage.changes({ after: this.#revision, epoch: this.#epoch, resources: [] }, { signal: this.#signal })
    try {
      for await (const part of stream) {
        this.#currentAtMs = clock.monotonic()
        if (part.kind === 'expired' || part.epoch !== this.#epoch) break
        await this.#pass(part)
        if (this.#signal.aborted) break
      }
    } finally {
      heart.cancel()
      stream.close()
      await beat
      await Promise.allSettled(this.#inFlight)
    }
    if (this.#failed.signal.aborted) throw this.#failed.signal.reason
  }

  /** Begins after the stream's last message if the message has this epoch and storage still has the later changes, else at the present. */
  async #begin(): Promise<void> {
    const { storage, stream } = this.#environment
    const last = await stream.prepare()
    const { epoch, revision, compacted } = await storage.status({}, { signal: this.#signal })
    this.#epoch = epoch
    this.#sequence = last.sequence
    const { message } = last
    const isContinued = message !== undefined && message.epoch === epoch && revisionOfMessage(message) >= compacted
    this.#revision = isContinued ? revisionOfMessage(message) : revision
    this.#lastChange = isContinued && message.kind === 'position' ? message.last : this.#revision
    // Announces this publisher, so that an earlier publisher notices it.
    this.#publish({ kind: 'position', epoch, revision: this.#revision, last: this.#lastChange })
  }

  async #pass(part: Extract<ChangesPart, { kind: 'changes' | 'position' }>): Promise<void> {
    const { clock, limits, isEncrypted } = this.#environment
    switch (part.kind) {
      case 'changes': {
        const changes = part.changes.filter(({ revision }) => revision > this.#revision)
        for (const message of toMessages(changes, { epoch: this.#epoch, publishedMs: clock.now(), limits, isEncrypted })) {
          await this.#room()
          if (this.#signal.aborted) return
          this.#publish(message)
        }
        break
      }
      case 'position':
        if (part.revision < this.#revision) return
        this.#revision = part.revision
        this.#publishPosition()
    }
  }

  /** Sends the position at intervals, also under load, unless storage keeps later changes back. */
  async #beat(): Promise<void> {
    const { clock, limits, storage } = this.#environment
    const { revision } = await storage.status({})
    const nowMs = clock.monotonic()
    if (revision <= this.#revision) this.#currentAtMs = nowMs
    if (nowMs - this.#positionAtMs < limits.heartbeatMs / 2 || nowMs - this.#currentAtMs > limits.storageSilenceMsMax) return
    if (this.#inFlight.size < limits.inFlightMax) this.#publishPosition()
  }

  #publishPosition(): void {
    this.#publish({ kind: 'position', epoch: this.#epoch, revision: this.#revision, last: this.#lastChange })
  }

  #publish(message: ChangeMessage): void {
    const { stream, clock, tracer } = this.#environment
    if (this.#signal.aborted) return
    const spans = tracer === undefined ? [] : spansOf(message, tracer)
    const expectedSequence = this.#sequence
    const revision = revisionOfMessage(message)
    // The publisher may repeat a position; its place in the stream makes the message id unique.
    const id = message.kind === 'position' ? `${this.#epoch}-${revision}.${expectedSequence}` : `${this.#epoch}-${revision}`
    const acknowledged = stream.publish(message, { id, expectedSequence, expectedId: this.#lastId }).then(
      () => this.#count(message),
      (error: unknown) => {
        for (const span of spans) span.fail(error)
        this.#failed.abort(error)
      },
    )
    this.#inFlight.add(acknowledged)
    void acknowledged.then(() => {
      this.#inFlight.delete(acknowledged)
      for (const span of spans) span.end()
    })
    this.#sequence += 1
    this.#lastId = id
    this.#revision = Math.max(this.#revision, revision)
    if (message.kind === 'position') this.#positionAtMs = clock.monotonic()
    else this.#lastChange = revision
  }

  #count(message: ChangeMessage): void {
    this.#onPublished()
    this.#counts.change_feed_published_messages_total.inc({ kind: message.kind })
    this.#counts.change_feed_published_changes_total.inc(
      message.kind === 'changes' ? message.changes.length : Number(message.kind === 'reference'),
    )
    this.#counts.change_feed_published_revision.set(revisionOfMessage(message))
  }

  async #room(): Promise<void> {
    const { inFlightMax } = this.#environment.limits
    while (this.#inFlight.size >= inFlightMax) await Promise.race(this.#inFlight)
  }
}

/** Records the way of a change to NATS in the trace of its write. */
function spansOf(message: ChangeMessage, tracer: Tracer): Span[] {
  if (message.kind !== 'changes') return []
  return message.changes.flatMap(({ traceparent, revision }) => {
    if (traceparent === undefined) return []
    const attributes = { 'messaging.system': 'nats', 'change.revision': revision }
    return tracer.start('publish a change', { kind: 'producer', parent: traceparent, attributes }) ?? []
  })
}

/** The carriers of messages never receive objects of these resources. */
const secretResources = ['core/secrets/']

/** The messages for a list of changes, in order: many changes per message, and a separate message for a change that is sent as a reference. */
function* toMessages(
  changes: readonly Change[],
  {
    epoch,
    publishedMs,
    limits,
    isEncrypted = () => false,
  }: {
    readonly epoch: string
    readonly publishedMs: number
    readonly limits: Pick<PublisherLimits, 'messageBytesMax' | 'changeBytesMax'>
    readonly isEncrypted?: ((key: string) => boolean) | undefined
  },
): Generator<ChangeMessage, void, undefined> {
  let together: Change[] = []
  let bytes = 0
  for (const whole of changes) {
    const change = withoutOldContent(whole)
    const size = sizeOf(change)
    const isReference =
      size > limits.changeBytesMax || secretResources.some((prefix) => change.key.startsWith(prefix)) || isEncrypted(change.key)
    if (together.length > 0 && (isReference || bytes + size > limits.messageBytesMax)) {
      yield { kind: 'changes', epoch, changes: together, publishedMs }
      together = []
      bytes = 0
    }
    if (isReference) {
      const { revision, previous, key } = change
      yield { kind: 'reference', epoch, revision, previous, key }
      continue
    }
    together.push(change)
    bytes += size
  }
  if (together.length > 0) yield { kind: 'changes', epoch, changes: together, publishedMs }
}

/** Subscribers hold the replaced object of an update, or request it from storage. */
function withoutOldContent(change: Change): Change {
  const { after, before } = change
  if (after === undefined || before?.value === undefined) return change
  const { value: _value, ...known } = before
  return { ...change, before: known }
}

/** The size of a change on the wire without its values and facts. */
const changeOverheadBytes = 100

function sizeOf({ key, after, before }: Change): number {
  let bytes = changeOverheadBytes + key.length + (after?.value.length ?? 0) + (before?.value?.length ?? 0)
  for (const facts of [after?.facts, before?.facts]) {
    if (facts === undefined) continue
    for (const map of [facts.labels, facts.fields]) for (const key in map) bytes += key.length + (map[key]?.length ?? 0) + 8
  }
  return bytes
}
