import { setImmediate } from 'node:timers/promises'
import {
  type EventsPart,
  type EventValues,
  type Stream,
  type SubscribeRequest,
  sizeOfEvents,
  type WatchPart,
  type WatchService,
} from '@orch/core/contracts'
import { ended, noTracer, retryDelayMs, runOutsideExchanges, sleep, type Tracer, TurnBudget } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'
import { deliver } from './delivery.ts'
import { bytesPerWrite, defaultWatchHubLimits, type WatchHubLimits } from './limits.ts'

/** The receiver of a client's events. Nothing is called after `expired` or `replaced`, or after the attachment is closed. */
export interface WatchSink {
  /**
   * Whole frames, ready to be written. Every client at the same position gets the same object: it may be neither changed nor stored. `count` is their
   * number, `lastRevision` the revision of the last one. A promise requests a pause: a separately fed client gets nothing more until it resolves.
   * Clients that share are not awaited. `older` are the indexes of frames about objects of another schema than the requested one.
   */
  frames(bytes: Uint8Array, lastRevision: number, count: number, older?: readonly number[]): void | Promise<void>
  /** Takes events without their frames, where none is about an object of another schema. Undefined if it needs the frames. */
  readonly values?: ((values: EventValues, lastRevision: number) => void | Promise<void>) | undefined
  /** Everything up to this revision has been delivered. */
  position(revision: number): void
  /** The requested history is no longer available: `too old resource version: asked (oldest)`. */
  expired(asked: number, oldest: number): void
  /** The store was replaced or reset: the client must list again. */
  replaced(): void
}

export interface WatchHubOptions extends Pick<Surroundings, 'clock' | 'log' | 'random'> {
  readonly watch: WatchService
  readonly limits?: Partial<WatchHubLimits>
  /** Undefined without tracing. */
  readonly tracer?: Tracer | undefined
  /** Called with the time from the commit of a change to the delivery of its event, as far as the clocks agree. */
  readonly onDelay?: ((delayMs: number) => void) | undefined
}

export interface WatchHub {
  /** Delivers every event after `request.after` to a sink, until the attachment is closed. Calls happen in later turns. */
  attach(options: {
    readonly request: SubscribeRequest
    readonly sink: WatchSink
    /** W3C `traceparent` of the client's request; undefined without a trace. */
    readonly traceparent?: string | undefined
  }): WatchAttachment
  /** Distinct subscriptions that are open. */
  readonly subscriptions: number
  /** Drops all clients without a last event; the caller that closes the server has sent one. */
  close(): void
}

export interface WatchAttachment {
  close(): void
}

/**
 * Shares subscriptions among the clients of this gateway: one per distinct (scope, selection, version, format). A broken subscription is resumed after
 * the last delivered position, unnoticed by clients.
 */
export function createWatchHub({ watch, clock, log, random, limits, tracer = noTracer, onDelay = () => {} }: WatchHubOptions): WatchHub {
  const bounds: WatchHubLimits = { ...defaultWatchHubLimits, ...limits }
  const budget = new TurnBudget(bounds.turnBytesMax, Math.min(bounds.turnBytesMax, bounds.firstTurnBytesMax))
  const environment: Environment = { watch, clock, log, random, tracer, onDelay, limits: bounds, budget }
  const open = new Set<SharedSubscription>()
  const shared = new Map<string, SharedSubscription>()
  const subscriptionFor = (request: SubscribeRequest): SharedSubscription => {
    const key = keyOf(request)
    const known = shared.get(key)
    if (known?.isJoinable(request.after)) return known
    const subscription = new SharedSubscription(environment, request, () => {
      open.delete(subscription)
      if (shared.get(key) === subscription) shared.delete(key)
    })
    open.add(subscription)
    shared.set(key, subscription)
    return subscription
  }
  return {
    attach({ request, sink, traceparent }) {
      return subscriptionFor(request).attach(sink, request.after, traceparent)
    },
    get subscriptions() {
      let count = 0
      for (const subscription of open) count += subscription.subscriptions
      return count
    },
    close() {
      for (const subscription of open) subscription.close()
    },
  }
}

interface Environment extends Pick<Surroundings, 'clock' | 'log' | 'random'> {
  readonly watch: WatchService
  readonly limits: WatchHubLimits
  /** Shared by all subscriptions: their clients' sockets are written to by one loop. */
  readonly budget: TurnBudget
  readonly tracer: Tracer
  readonly onDelay: (delayMs: number) => void
}

function keyOf({ scope, selection, group, version, resource, format, epoch, fingerprint }: SubscribeRequest): string {
  const place = [scope.resource, scope.namespace, scope.name, epoch]
  return JSON.stringify([place, selection, group, version, resource, format, fingerprint])
}

/**
 * A client is in one of three states:
 * - attached: it has received exactly the events of the shared subscription;
 * - waiting: it begins after the shared position, and no event has come since that it would have to skip;
 * - alone: it has its own subscription until that one reaches the shared position.
 *
 *   shared: last event 7, position 12.   A client after 7…12 attaches; after 5 goes alone; after 15 waits.
 *   Now an event 17 comes: it may be in one piece with an event 14, so a client that waits at 15 goes alone.
 */
class SharedSubscription {
  readonly #environment: Environment
  readonly #request: SubscribeRequest
  readonly #onEmpty: () => void
  readonly #attached = new Set<Client>()
  readonly #waiting = new Set<Client>()
  readonly #alone = new Set<Client>()
  readonly #line: Line
  #lastEvent: number
  #hasReceived = false

  constructor(environment: Environment, request: SubscribeRequest, onEmpty: () => void) {
    this.#environment = environment
    this.#request = request
    this.#onEmpty = onEmpty
    this.#lastEvent = request.after
    this.#line = new Line(environment, request, (part) => this.#receive(part))
  }

  get subscriptions(): number {
    return 1 + this.#alone.size
  }

  /**
   * True if a client that begins after this revision may share the subscription. False if the subscription has ended, or may have begun at a future
   * revision, because its clients would miss events.
   */
  isJoinable(after: number): boolean {
    return !this.#line.isClosed && (this.#hasReceived || after >= this.#lastEvent)
  }

  attach(sink: WatchSink, after: number, traceparent: string | undefined): WatchAttachment {
    const client = new Client(this, sink, after, traceparent)
    if (after > this.#line.position) this.#waiting.add(client)
    else if (after >= this.#lastEvent) this.#attach(client)
    else this.#goAlone(client)
    return client
  }

  /** The client has reached the shared position, which it receives without waiting for the next one. */
  #attach(client: Client): void {
    this.#attached.add(client)
    if (this.#hasReceived) queueMicrotask(() => this.#give(client, { kind: 'position', revision: this.#line.position }))
  }

  detach(client: Client): void {
    client.end()
    this.#attached.delete(client)
    this.#waiting.delete(client)
    this.#alone.delete(client)
    if (this.#attached.size + this.#waiting.size + this.#alone.size === 0) this.close()
  }

  close(): void {
    this.#line.close()
    for (const clients of [this.#attached, this.#waiting, this.#alone]) {
      for (const client of clients) client.end()
      clients.clear()
    }
    this.#onEmpty()
  }

  #receive(part: WatchPart): Promise<void> | undefined {
    this.#hasReceived = true
    if (part.kind === 'events') this.#lastEvent = part.last
    if (part.kind === 'events') {
      const { budget } = this.#environment
      const cost = costOf(part)
      if (this.#attached.size > budget.timesAtFirst(cost)) return this.#giveInTurns(part)
      const room = budget.take(cost * this.#attached.size)
      if (room !== undefined) return this.#giveLater(part, room)
    }
    this.#giveAll(part)
    this.#given(part)
    return undefined
  }

  /** For a part beyond one turn: some clients in each turn of the event loop. A client that joins meanwhile is already after these events. */
  async #giveInTurns(part: EventsPart): Promise<void> {
    const { budget } = this.#environment
    const clients = [...this.#attached]
    const cost = costOf(part)
    const done = this.#beginDelivery(part)
    for (let first = 0, times = budget.timesAtFirst(cost); first < clients.length; first += times, times = budget.timesPerTurn(cost)) {
      const some = clients.slice(first, first + times)
      await budget.take(cost * some.length)
      for (const client of some) this.#give(client, part)
    }
    done?.()
    if (!this.#line.isClosed) this.#given(part)
  }

  /** Delivers a part in a later turn, if the budget of this one is used up. */
  async #giveLater(part: EventsPart, room: Promise<void>): Promise<void> {
    const clients = [...this.#attached]
    await room
    const done = this.#beginDelivery(part)
    for (const client of clients) this.#give(client, part)
    done?.()
    if (!this.#line.isClosed) this.#given(part)
  }

  /** All attached clients have received a part: others may join them, or have to continue separately. */
  #given(part: WatchPart): void {
    switch (part.kind) {
      case 'events':
        for (const client of this.#waiting) if (client.after < part.last) this.#goAlone(client)
        break
      case 'position':
        this.#settle(part)
        break
      case 'expired':
      case 'replaced':
        for (const client of this.#waiting) this.#goAlone(client)
    }
    for (const client of this.#alone) this.#rejoin(client)
  }

  /** Delivers a part to all attached clients. */
  #giveAll(part: WatchPart): void {
    const done = this.#beginDelivery(part)
    for (const client of this.#attached) this.#give(client, part)
    done?.()
  }

  #beginDelivery(part: WatchPart): (() => void) | undefined {
    const { origin } = part.kind === 'events' ? part : nothing
    return origin === undefined ? undefined : deliver(origin, this.#request, this.#attached, this.#environment)
  }

  /** A client that waited for a position up to this one has missed nothing. */
  #settle(part: WatchPart & { readonly kind: 'position' }): void {
    for (const client of this.#waiting) {
      if (client.after > part.revision) continue
      this.#waiting.delete(client)
      this.#attached.add(client)
      this.#give(client, part)
    }
  }

  #goAlone(client: Client): void {
    this.#waiting.delete(client)
    this.#alone.add(client)
    client.line = new Line(this.#environment, { ...this.#request, after: client.after }, (part) => {
      const room = part.kind === 'events' ? this.#environment.budget.take(costOf(part)) : undefined
      if (room === undefined) return this.#giveAlone(client, part)
      client.isOwed = true
      return room.then(() => {
        client.isOwed = false
        return this.#giveAlone(client, part)
      })
    })
  }

  #giveAlone(client: Client, part: WatchPart): Promise<void> | undefined {
    const pause = this.#give(client, part)
    this.#rejoin(client)
    return pause
  }

  #rejoin(client: Client): void {
    if (client.isOwed || client.line?.position !== this.#line.position || this.#line.isClosed) return
    if (!this.#alone.delete(client)) return
    client.leaveLine()
    this.#attached.add(client)
  }

  /** A sink that throws detaches only its client. */
  #give(client: Client, part: WatchPart): Promise<void> | undefined {
    try {
      return client.take(part)
    } catch (error) {
      this.#environment.log.warn({ err: error }, 'a watch client has failed')
      this.detach(client)
      return undefined
    }
  }
}

/** One client of a shared subscription. There may be ten thousand: no closures, no timers. */
class Client implements WatchAttachment {
  readonly #sink: WatchSink
  readonly after: number
  readonly traceparent: string | undefined
  #subscription: SharedSubscription | undefined
  /** Its own subscription while it is separate. */
  line: Line | undefined
  /** Its own subscription has read events that wait for their turn. */
  isOwed = false

  constructor(subscription: SharedSubscription, sink: WatchSink, after: number, traceparent: string | undefined) {
    this.traceparent = traceparent
    this.#subscription = subscription
    this.#sink = sink
    this.after = after
  }

  /** Delivers a part to the sink; returns its requested pause. */
  take(part: WatchPart): Promise<void> | undefined {
    if (this.#subscription === undefined) return undefined
    switch (part.kind) {
      case 'events':
        return part.last > this.after ? (this.#takeEvents(part) ?? undefined) : undefined
      case 'position':
        this.#sink.position(part.revision)
        break
      case 'expired':
        this.close()
        this.#sink.expired(part.asked, part.oldest)
        break
      case 'replaced':
        this.close()
        this.#sink.replaced()
    }
    return undefined
  }

  #takeEvents(part: EventsPart): void | Promise<void> {
    const { values, older, last } = part
    if (values !== undefined && older === undefined && this.#sink.values !== undefined) return this.#sink.values(values, last)
    return this.#sink.frames(part.frames, last, part.count, older)
  }

  close(): void {
    this.#subscription?.detach(this)
  }

  leaveLine(): void {
    this.line?.close()
    this.line = undefined
  }

  end(): void {
    this.#subscription = undefined
    this.leaveLine()
  }
}

/** The cost of a part for one client in a turn. */
function costOf(part: EventsPart): number {
  return sizeOfEvents(part) + bytesPerWrite
}

const nothing: { readonly origin?: undefined } = {}

/** One subscription, resumed after its last position whenever it breaks. */
class Line {
  readonly #environment: Environment
  readonly #request: SubscribeRequest
  readonly #receive: (part: WatchPart) => Promise<void> | undefined
  readonly #closed = new AbortController()
  #stream: Stream<WatchPart> | undefined
  /** Everything up to here has been received. */
  position: number

  constructor(environment: Environment, request: SubscribeRequest, receive: (part: WatchPart) => Promise<void> | undefined) {
    this.#environment = environment
    this.#request = request
    this.#receive = receive
    this.position = request.after
    void runOutsideExchanges(() => this.#run())
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted
  }

  close(): void {
    this.#closed.abort(ended)
    this.#stream?.close()
  }

  async #run(): Promise<void> {
    const { clock, log, random, limits } = this.#environment
    for (let attempt = 0; !this.isClosed; attempt += 1) {
      const delayMs = retryDelayMs({ attempt, maxMs: limits.retryDelayMsMax, random: random() })
      if (attempt > 0) await sleep(clock, delayMs, this.#closed.signal)
      if (this.isClosed) return
      try {
        for await (const part of this.#subscribe()) {
          // A successful subscription is renewed at once, as a replica that ends leaves its subscriptions to ready ones.
          attempt = -1
          const pause = this.#take(part)
          if (pause !== undefined) await pause
          // Sockets send their bytes before they get more.
          else if (part.kind === 'events' && sizeOfEvents(part) >= limits.breathBytesMin) await setImmediate()
          if (this.isClosed) return
        }
      } catch (error) {
        if (!this.isClosed) log.debug({ err: error, attempt, after: this.position }, 'a watch subscription has broken')
      }
    }
  }

  #subscribe(): Stream<WatchPart> {
    this.#stream = this.#environment.watch.subscribe({ ...this.#request, after: this.position })
    return this.#stream
  }

  #take(part: WatchPart): Promise<void> | undefined {
    switch (part.kind) {
      case 'events':
        this.position = part.last
        break
      case 'position':
        this.position = Math.max(this.position, part.revision)
        break
      case 'expired':
      case 'replaced':
        this.close()
    }
    return this.#receive(part)
  }
}
